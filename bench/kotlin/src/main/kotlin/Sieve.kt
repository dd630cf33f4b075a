import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

private const val END = 0

// The prime sieve: a coroutine for each prime passes on what its prime does not divide; an operation is one message.
// It ends with a 0 that all of them pass on.
suspend fun sieve(size: Int): Int {
  val messages = AtomicLong()
  val limit = maxOf(2, size)
  val primes = coroutineScope {
    val numbers = Channel<Int>()
    launch {
      for (n in 2..limit) {
        numbers.send(n)
      }
      numbers.send(END)
    }
    drain(numbers, messages)
  }
  checkSum("number of primes up to $limit", primes.toLong(), countPrimes(limit).toLong())
  return messages.get().toInt()
}

private suspend fun CoroutineScope.drain(numbers: Channel<Int>, messages: AtomicLong): Int {
  var from = numbers
  var primes = 0
  while (true) {
    val prime = from.receive()
    if (prime == END) {
      messages.addAndGet(primes + 1L)
      return primes
    }
    primes++
    val source = from
    val to = Channel<Int>()
    launch { filter(source, to, prime, messages) }
    from = to
  }
}

private suspend fun filter(from: Channel<Int>, to: Channel<Int>, prime: Int, messages: AtomicLong) {
  var received = 0L
  while (true) {
    val n = from.receive()
    received++
    if (n == END || n % prime != 0) {
      to.send(n)
    }
    if (n == END) {
      messages.addAndGet(received)
      return
    }
  }
}

private fun countPrimes(limit: Int): Int {
  val composite = BooleanArray(limit + 1)
  var primes = 0
  for (n in 2..limit) {
    if (!composite[n]) {
      primes++
      for (multiple in 2 * n..limit step n) {
        composite[multiple] = true
      }
    }
  }
  return primes
}
