// A crawler that never has more than three pages under way. Each page is a goroutine of one Group:
// limit(n) makes go() wait for its turn, await() waits for all of them, and the first that fails
// stops the rest. The site is a server in this program.

import com.sun.net.httpserver.HttpServer;
import dev.gloom.Chan;
import dev.gloom.Group;

final Map<String, String> site =
    Map.of(
        "/", "/a /b /c /missing",
        "/a", "/b /d",
        "/b", "/a /e",
        "/c", "/",
        "/d", "/e /c",
        "/e", "the end");

final AtomicInteger underWay = new AtomicInteger();
final AtomicInteger most = new AtomicInteger();

void main() throws Exception {
  HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
  server.createContext(
      "/",
      request -> {
        String page = site.get(request.getRequestURI().getPath());
        byte[] body = page == null ? new byte[0] : page.getBytes();
        request.sendResponseHeaders(page == null ? 404 : 200, body.length == 0 ? -1 : body.length);
        request.getResponseBody().write(body);
        request.close();
      });
  server.start();
  try {
    String root = "http://127.0.0.1:" + server.getAddress().getPort();
    Map<String, String> found = crawl(root);
    new TreeMap<>(found).forEach((page, links) -> IO.println(page + " -> " + links));
    IO.println("at most three at once: " + (most.get() <= 3));
  } finally {
    server.stop(0);
  }
}

/// One goroutine, this one, knows what has been seen; the others fetch and tell it what they found.
Map<String, String> crawl(String root) throws Exception {
  Map<String, String> found = new HashMap<>();
  Chan<Map.Entry<String, String>> pages = Chan.make(100);
  Set<String> seen = new HashSet<>();
  Deque<String> todo = new ArrayDeque<>(List.of("/"));
  try (var group = new Group().limit(3)) {
    for (int waitingFor = 0; waitingFor > 0 || !todo.isEmpty(); ) {
      for (String page = todo.poll(); page != null; page = todo.poll()) {
        if (seen.add(page)) {
          String path = page;
          group.go(() -> pages.send(Map.entry(path, fetch(root + path))));
          waitingFor++;
        }
      }
      if (waitingFor > 0) {
        Map.Entry<String, String> page = pages.recv();
        waitingFor--;
        found.put(page.getKey(), page.getValue());
        todo.addAll(List.of(page.getValue().split(" ")));
        todo.removeIf(link -> !link.startsWith("/"));
      }
    }
    group.await();
  }
  return found;
}

String fetch(String url) throws IOException {
  most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
  try (InputStream in = URI.create(url).toURL().openStream()) {
    return new String(in.readAllBytes());
  } catch (FileNotFoundException e) {
    return "not found";
  } finally {
    underWay.decrementAndGet();
  }
}

// Output:
// / -> /a /b /c /missing
// /a -> /b /d
// /b -> /a /e
// /c -> /
// /d -> /e /c
// /e -> the end
// /missing -> not found
// at most three at once: true
