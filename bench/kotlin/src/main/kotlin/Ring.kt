import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

private const val NODES = 1_000

// A number that goes round through coroutines, each of which adds one; an operation is one hop.
suspend fun ring(size: Int): Int {
  val laps = maxOf(1, size / NODES)
  val first = Channel<Int>()
  var token = 0
  coroutineScope {
    var last = first
    repeat(NODES - 1) {
      val from = last
      val to = Channel<Int>()
      launch { repeat(laps) { to.send(from.receive() + 1) } }
      last = to
    }
    repeat(laps) {
      first.send(token + 1)
      token = last.receive()
    }
  }
  checkSum("number of hops", token.toLong(), NODES.toLong() * laps)
  return NODES * laps
}
