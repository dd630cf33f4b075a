package dev.gloom.apps;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.core.StandardVirtualThreadExecutor;
import org.apache.catalina.startup.Tomcat;

/// An embedded Tomcat with its executor of virtual threads.
public final class TomcatApp {
  private static final Logger QUIET = Logger.getLogger("org.apache");

  private TomcatApp() {}

  public static void main(String[] args) throws Exception {
    QUIET.setLevel(Level.SEVERE);
    var service = new Service();
    var tomcat = new Tomcat();
    tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
    tomcat.setPort(0);
    var executor = new StandardVirtualThreadExecutor();
    executor.setName("virtual");
    tomcat.getService().addExecutor(executor);
    tomcat.getConnector().getProtocolHandler().setExecutor(executor);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    var context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "service", new Servlet(service)).addMapping("/*");
    tomcat.start();
    service.serving(tomcat.getConnector().getLocalPort());
  }

  private static final class Servlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private final transient Service service;

    Servlet(Service service) {
      this.service = service;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException {
      response.getWriter().write(service.answer(request.getRequestURI()));
    }
  }
}
