import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

private const val LINKS = 10_000

// Coroutines in a row, each waiting for its right neighbour to hand it a number, which it hands on plus one; an
// operation is one of them, start to end.
suspend fun chain(size: Int): Int {
  val links = minOf(LINKS, size)
  val chains = size / links
  coroutineScope {
    repeat(chains) {
      val leftmost = Channel<Int>()
      var left = leftmost
      repeat(links) {
        val to = left
        val from = Channel<Int>()
        launch { to.send(from.receive() + 1) }
        left = from
      }
      left.send(0)
      checkSum("number at the end of the chain", leftmost.receive().toLong(), links.toLong())
    }
  }
  return chains * links
}
