import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select

// A sender at each of several channels without capacity, and one receiver that takes from whichever is ready; an
// operation is one message.
suspend fun select2(size: Int): Int {
  val (a, b) = List(2) { Channel<Int>() }
  return choose(listOf(a, b), size) {
    select {
      a.onReceive { it }
      b.onReceive { it }
    }
  }
}

suspend fun select8(size: Int): Int {
  val channels = List(8) { Channel<Int>() }
  val (a, b, c, d, e) = channels
  val (f, g, h) = channels.drop(5)
  return choose(channels, size) {
    select {
      a.onReceive { it }
      b.onReceive { it }
      c.onReceive { it }
      d.onReceive { it }
      e.onReceive { it }
      f.onReceive { it }
      g.onReceive { it }
      h.onReceive { it }
    }
  }
}

private suspend inline fun choose(
    channels: List<Channel<Int>>,
    size: Int,
    crossinline receive: suspend () -> Int,
): Int {
  val each = maxOf(1, size / channels.size)
  var sum = 0L
  coroutineScope {
    for (channel in channels) {
      launch {
        for (n in 0 until each) {
          channel.send(n)
        }
      }
    }
    repeat(channels.size * each) { sum += receive() }
  }
  checkSum("sum of the messages", sum, channels.size.toLong() * each * (each - 1) / 2)
  return channels.size * each
}
