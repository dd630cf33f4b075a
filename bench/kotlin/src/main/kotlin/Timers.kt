import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch

private const val SLEEPERS = 10_000

// Coroutines that sleep for a millisecond again and again; an operation is one sleep. None may be shorter.
suspend fun timers(size: Int): Int {
  val sleepers = minOf(SLEEPERS, size)
  val sleeps = size / sleepers
  val early = AtomicLong()
  coroutineScope {
    repeat(sleepers) {
      launch {
        val start = System.nanoTime()
        repeat(sleeps) { delay(1) }
        if (System.nanoTime() - start < sleeps * 1_000_000L) {
          early.incrementAndGet()
        }
      }
    }
  }
  checkSum("number of sleepers that came back early", early.get(), 0)
  return sleepers * sleeps
}
