import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

private const val CAPACITY = 128

suspend fun buffered(size: Int) = queue(1, size)

suspend fun mpmc(size: Int) = queue(4, size)

// So many senders and as many receivers at one channel; an operation is one message.
private suspend fun queue(pairs: Int, size: Int): Int {
  val each = maxOf(1, size / pairs)
  val channel = Channel<Int>(CAPACITY)
  val sum = AtomicLong()
  coroutineScope {
    repeat(pairs) {
      launch {
        for (n in 0 until each) {
          channel.send(n)
        }
      }
      launch {
        var mine = 0L
        repeat(each) { mine += channel.receive() }
        sum.addAndGet(mine)
      }
    }
  }
  checkSum("sum of the messages", sum.get(), pairs.toLong() * each * (each - 1) / 2)
  return pairs * each
}
