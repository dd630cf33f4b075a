// The Kotlin peer of gloom's benchmarks: `MainKt CASE SIZE WARMUP_MILLIS PROCS`.
//
// The protocol is described in Child.java. The coroutines run on Dispatchers.Default, whose threads the command line
// limits. A case is a file of its own and a line here.

import java.util.Properties
import kotlin.system.exitProcess
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking

/** Does about so many operations and returns how many it really did. */
typealias Work = suspend (size: Int) -> Int

private val cases: Map<String, Work> =
    mapOf(
        "yield" to ::yields,
        "spawn" to ::spawn,
        "skynet" to ::skynet,
        "pingpong" to ::pingPong,
        "chain" to ::chain,
        "buffered" to ::buffered,
        "mpmc" to ::mpmc,
        "select2" to ::select2,
        "select8" to ::select8,
        "ring" to ::ring,
        "sieve" to ::sieve,
        "timers" to ::timers,
    )

// As in Worker.java.
private const val MIN_WARMUP_ROUNDS = 5

fun main(args: Array<String>) {
  Thread.setDefaultUncaughtExceptionHandler { _, e -> fail(e) }
  val work = cases[args[0]]
  if (work == null) {
    say("unsupported no twin in Kotlin")
    return
  }
  val size = args[1].toInt()
  val warmupNanos = args[2].toLong() * 1_000_000
  val procs = args[3].toInt()
  try {
    val start = System.nanoTime()
    var n = 0
    while (n < MIN_WARMUP_ROUNDS || System.nanoTime() - start < warmupNanos) {
      round(work, size)
      say("warm")
      n++
    }
    checkLimit(procs)
    say("ready " + version())
    while (readlnOrNull() != null) {
      say("round " + round(work, size))
    }
    exitProcess(0)
  } catch (e: Throwable) {
    fail(e)
  }
}

// Timed inside, as in the other languages. The calling thread sleeps meanwhile.
private fun round(work: Work, size: Int): String =
    runBlocking(Dispatchers.Default) {
      val start = System.nanoTime()
      val ops = work(size)
      "$ops ${System.nanoTime() - start}"
    }

/** A peer on more processors than it says would win by that. */
private fun checkLimit(procs: Int) {
  val workers =
      Thread.getAllStackTraces().keys.count { it.name.startsWith("DefaultDispatcher-worker") }
  check(workers in 1..procs) { "runs on $workers threads, not on $procs" }
}

fun checkSum(what: String, got: Long, expected: Long) =
    check(got == expected) { "wrong $what: $got, not $expected" }

private fun version(): String {
  val versions = Properties()
  object {}.javaClass.getResourceAsStream("/kotlin-peer.properties").use { versions.load(it) }
  val collector = java.lang.management.ManagementFactory.getGarbageCollectorMXBeans().first().name
  return "kotlinx-coroutines ${versions["coroutines"]}, Kotlin ${versions["kotlin"]} on " +
      "JDK ${Runtime.version()}, ${collector.substringBefore(' ')}"
}

private fun say(line: String) {
  println("@bench $line")
  System.out.flush()
}

private fun fail(e: Throwable) {
  e.printStackTrace()
  say("fail $e")
  Runtime.getRuntime().halt(3)
}
