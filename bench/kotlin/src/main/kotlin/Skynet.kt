import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

private const val CHILDREN = 10

// A tree of coroutines in tens, whose leaves' numbers are summed up through the parents; an operation is one leaf.
suspend fun skynet(size: Int): Int {
  var leaves = CHILDREN
  while (leaves.toLong() * CHILDREN <= size) {
    leaves *= CHILDREN
  }
  checkSum("sum of the leaves", sum(0, leaves), leaves.toLong() * (leaves - 1) / 2)
  return leaves
}

private suspend fun sum(first: Int, leaves: Int): Long {
  if (leaves == 1) {
    return first.toLong()
  }
  val sum = AtomicLong()
  val part = leaves / CHILDREN
  coroutineScope {
    for (i in 0 until CHILDREN) {
      launch { sum.addAndGet(sum(first + i * part, part)) }
    }
  }
  return sum.get()
}
