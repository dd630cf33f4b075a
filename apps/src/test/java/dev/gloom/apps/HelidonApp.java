package dev.gloom.apps;

import io.helidon.webserver.WebServer;
import java.util.logging.Level;
import java.util.logging.Logger;

/// Helidon SE, whose web server is made of virtual threads.
public final class HelidonApp {
  private static final Logger QUIET = Logger.getLogger("io.helidon");

  private HelidonApp() {}

  public static void main(String[] args) throws Exception {
    QUIET.setLevel(Level.SEVERE);
    var service = new Service();
    WebServer server =
        WebServer.builder()
            .host("127.0.0.1")
            .port(0)
            .routing(
                routing ->
                    routing.any(
                        "/*",
                        (request, response) ->
                            response.send(service.answer(request.path().path()))))
            .build()
            .start();
    service.serving(server.port());
  }
}
