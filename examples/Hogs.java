// Virtual threads that compute for ever, twice as many as there are processors, and what is left
// for
// the others: a ticker of 1 ms, a liveness probe over HTTP, and a short task every 5 ms. Plain JDK:
//
//   java examples/Hogs.java arithmetic 10                                     starved
//   java -javaagent:gloom.jar=preempt=eager examples/Hogs.java arithmetic 10  shared
//
// Prints one line: of the ticker and the tasks, by how much they were late, 99 of 100 times; of the
// probes, how many were answered within 50 ms; of the hogs, the least and the most that one got, 1
// being its fair share; of the process, how many cores it used. bench/hogs has the same in Go.

import com.sun.net.httpserver.HttpServer;
import java.security.MessageDigest;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.zip.Deflater;

static final List<String> KINDS =
    List.of("empty", "arithmetic", "calls", "sha256", "regex", "fib", "native");

static final int PAD = 16; // each hog's counter on cache lines of its own

static volatile boolean stop;
static AtomicLongArray turns;

void main(String[] args) throws Exception {
  if (args.length != 2 || !KINDS.contains(args[0])) {
    IO.println("usage: Hogs " + String.join("|", KINDS) + " SECONDS");
    return;
  }
  String kind = args[0];
  long nanos = Long.parseLong(args[1]) * 1_000_000_000L;
  int hogs = 2 * processors();
  turns = new AtomicLongArray(hogs * PAD);

  HttpServer server =
      HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
  server.createContext(
      "/live",
      exchange -> {
        exchange.sendResponseHeaders(200, 2);
        try (var body = exchange.getResponseBody()) {
          body.write(new byte[] {'o', 'k'});
        }
      });
  server.start();

  for (int i = 0; i < hogs; i++) {
    int self = i;
    Thread.startVirtualThread(() -> hog(kind, self));
  }
  Thread.sleep(1_000); // until they are compiled

  long[] before = counts(hogs);
  long cpu = cpuNanos();
  long start = System.nanoTime();
  long end = start + nanos;
  List<Long> late = Collections.synchronizedList(new ArrayList<>());
  List<Long> tasks = Collections.synchronizedList(new ArrayList<>());
  List<Long> probes = Collections.synchronizedList(new ArrayList<>());
  Thread ticker = Thread.startVirtualThread(() -> tick(end, late));
  Thread submitter = Thread.ofPlatform().daemon().start(() -> submit(end, tasks));
  Thread prober = Thread.ofPlatform().daemon().start(() -> probe(end, server.getAddress(), probes));
  LockSupport.parkNanos(nanos);
  while (System.nanoTime() < end) {
    LockSupport.parkNanos(1_000_000);
  }
  double elapsed = System.nanoTime() - start;
  double cores = (cpuNanos() - cpu) / elapsed;
  long[] after = counts(hogs);
  ticker.join(Duration.ofMillis(200));
  submitter.join(Duration.ofMillis(200));
  prober.join(Duration.ofMillis(200));

  long sum = 0;
  long least = Long.MAX_VALUE;
  long most = 0;
  for (int i = 0; i < hogs; i++) {
    long n = after[i] - before[i];
    sum += n;
    least = Math.min(least, n);
    most = Math.max(most, n);
  }
  double fair = Math.max(1.0, (double) sum / hogs);
  IO.println(
      "%-10s ticks %6d p99 %8s ms  probes %5d in time %5.1f %%  tasks %5d p99 %8s ms  share %4.2f..%4.2f  cores %4.2f"
          .formatted(
              kind,
              late.size(),
              p99(late),
              probes.size(),
              inTime(probes, nanos),
              tasks.size(),
              p99(tasks),
              least / fair,
              most / fair,
              cores));
  System.exit(0);
}

int processors() {
  return Integer.getInteger("hogs.procs", Runtime.getRuntime().availableProcessors());
}

long[] counts(int hogs) {
  var counts = new long[hogs];
  for (int i = 0; i < hogs; i++) {
    counts[i] = turns.get(i * PAD);
  }
  return counts;
}

long cpuNanos() {
  return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
}

// The hogs. Each counts its turns, which take some 100 us, or as long as one call does.

void hog(String kind, int self) {
  switch (kind) {
    case "empty" -> empty(self);
    case "arithmetic" -> arithmetic(self);
    case "calls" -> calls(self);
    case "sha256" -> sha256(self);
    case "regex" -> regex(self);
    case "fib" -> {
      while (!stop) {
        fib(20);
        turn(self);
      }
    }
    default -> deflate(self);
  }
}

void turn(int self) {
  turns.lazySet(self * PAD, turns.get(self * PAD) + 1);
}

void empty(int self) {
  for (int i = 0; !stop; i++) {
    if ((i & 0xffff) == 0) {
      turn(self);
    }
  }
}

void arithmetic(int self) {
  var numbers = new int[1 << 15];
  while (!stop) {
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = numbers[i] * 31 + i;
    }
    turn(self);
  }
}

void calls(int self) {
  int n = 1;
  while (!stop) {
    for (int i = 0; i < 20_000; i++) {
      n = scramble(n);
    }
    turn(self);
  }
}

int scramble(int n) {
  return Integer.rotateLeft(n * 0x9E3779B9, 13) ^ n;
}

void sha256(int self) {
  try {
    var bytes = new byte[16 << 20];
    var digest = MessageDigest.getInstance("SHA-256");
    while (!stop) {
      digest.digest(bytes);
      turn(self);
    }
  } catch (java.security.NoSuchAlgorithmException e) {
    throw new IllegalStateException(e);
  }
}

void regex(int self) {
  var pattern = Pattern.compile("(a+)+b");
  while (!stop) {
    pattern.matcher("a".repeat(22)).matches();
    turn(self);
  }
}

int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/// zlib, in native code: some hundred milliseconds a call.
void deflate(int self) {
  var bytes = new byte[4 << 20];
  new Random(self).nextBytes(bytes);
  var out = new byte[8 << 20];
  while (!stop) {
    var deflater = new Deflater(9);
    deflater.setInput(bytes);
    deflater.finish();
    deflater.deflate(out);
    deflater.end();
    turn(self);
  }
}

// The others.

void tick(long end, List<Long> late) {
  try {
    while (System.nanoTime() < end) {
      long start = System.nanoTime();
      Thread.sleep(1);
      late.add(System.nanoTime() - start - 1_000_000);
    }
  } catch (InterruptedException e) {
    // the end
  }
}

void submit(long end, List<Long> tasks) {
  while (System.nanoTime() < end) {
    long start = System.nanoTime();
    Thread.startVirtualThread(
        () -> {
          int n = 1;
          for (int i = 0; i < 10_000; i++) {
            n = scramble(n);
          }
          tasks.add(System.nanoTime() - start + (n & 1));
        });
    LockSupport.parkNanos(5_000_000);
  }
}

/// One connection for each probe, as a load balancer's.
void probe(long end, InetSocketAddress server, List<Long> probes) {
  byte[] request = "GET /live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".getBytes();
  while (System.nanoTime() < end) {
    long start = System.nanoTime();
    try (var socket = new Socket()) {
      socket.connect(server, 2_000);
      socket.setSoTimeout(2_000);
      socket.getOutputStream().write(request);
      boolean ok = new String(socket.getInputStream().readAllBytes()).endsWith("ok");
      probes.add(ok ? System.nanoTime() - start : Long.MAX_VALUE);
    } catch (IOException e) {
      probes.add(Long.MAX_VALUE);
    }
    LockSupport.parkNanos(20_000_000);
  }
}

// The figures.

String p99(List<Long> nanos) {
  var sorted = new ArrayList<>(nanos);
  if (sorted.isEmpty()) {
    return "-";
  }
  Collections.sort(sorted);
  return "%.1f".formatted(sorted.get(Math.min(sorted.size() - 1, sorted.size() * 99 / 100)) / 1e6);
}

double inTime(List<Long> nanos, long run) {
  var all = new ArrayList<>(nanos);
  return all.isEmpty() ? 0 : 100.0 * all.stream().filter(n -> n <= 50_000_000).count() / all.size();
}

// Output:
// usage: Hogs empty|arithmetic|calls|sha256|regex|fib|native SECONDS
