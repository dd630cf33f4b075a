package dev.gloom.apps;

import java.util.concurrent.Executors;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/// A Jetty whose pool runs handlers in virtual threads.
public final class JettyApp {
  private JettyApp() {}

  public static void main(String[] args) throws Exception {
    var service = new Service();
    var pool = new QueuedThreadPool();
    pool.setVirtualThreadsExecutor(Executors.newVirtualThreadPerTaskExecutor());
    var server = new Server(pool);
    var connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(
        new Handler.Abstract() {
          @Override
          public boolean handle(Request request, Response response, Callback callback) {
            Content.Sink.write(
                response, true, service.answer(request.getHttpURI().getPath()), callback);
            return true;
          }
        });
    server.start();
    service.serving(connector.getLocalPort());
  }
}
