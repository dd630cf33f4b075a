package dev.gloom.apps;

import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/// Spring Boot with `spring.threads.virtual.enabled`.
@Configuration
@EnableAutoConfiguration
public class SpringApp {
  public static void main(String[] args) throws Exception {
    var application = new SpringApplication(SpringApp.class);
    application.setDefaultProperties(
        Map.of(
            "spring.threads.virtual.enabled", "true",
            "spring.main.banner-mode", "off",
            "server.address", "127.0.0.1",
            "server.port", "0",
            "logging.level.root", "error"));
    var context = application.run(args);
    int port = Integer.parseInt(context.getEnvironment().getProperty("local.server.port"));
    context.getBean(Service.class).serving(port);
  }

  @Bean
  Service service() throws SQLException {
    return new Service();
  }

  /// All paths to the service.
  @RestController
  public static class Controller {
    private final Service service;

    Controller(Service service) {
      this.service = service;
    }

    @GetMapping("/**")
    public String answer(HttpServletRequest request) {
      return service.answer(request.getRequestURI());
    }
  }
}
