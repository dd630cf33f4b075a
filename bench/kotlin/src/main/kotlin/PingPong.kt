import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

// Two coroutines and two channels without capacity; an operation is one round trip.
suspend fun pingPong(size: Int): Int {
  val ping = Channel<Int>()
  val pong = Channel<Int>()
  var sum = 0L
  coroutineScope {
    launch { repeat(size) { pong.send(ping.receive()) } }
    for (n in 0 until size) {
      ping.send(n)
      sum += pong.receive()
    }
  }
  checkSum("sum of what came back", sum, size.toLong() * (size - 1) / 2)
  return size
}
