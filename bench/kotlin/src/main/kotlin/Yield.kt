import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield

private const val YIELDERS = 1_000

// Coroutines that only yield to each other; an operation is one yield.
suspend fun yields(size: Int): Int {
  val yields = maxOf(1, size / YIELDERS)
  coroutineScope { repeat(YIELDERS) { launch { repeat(yields) { yield() } } } }
  return YIELDERS * yields
}
