package dev.gloom.bench.cases;

import dev.gloom.Gloom;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;

/// Goroutines of gloom's default scheduler.
public final class GloomThreads implements Threads {
  private final Channels channels = new GloomChannels();

  @Override
  public void run(Runnable root) throws Exception {
    Gloom.run(root::run);
  }

  @Override
  public void start(Code body) {
    Gloom.go(body);
  }

  @Override
  public void yield() {
    Gloom.gosched();
  }

  @Override
  public void sleep(Duration duration) {
    try {
      Gloom.sleep(duration);
    } catch (InterruptedException e) {
      throw Channels.unexpected(e);
    }
  }

  @Override
  public Channels channels() {
    return channels;
  }

  @Override
  public int procs() {
    return Gloom.maxProcs();
  }

  @Override
  public Map<String, Long> counters() {
    var stats = Gloom.stats();
    var counters = new LinkedHashMap<String, Long>();
    counters.put("dispatches", stats.dispatches());
    counters.put("sameM", stats.sameM());
    counters.put("steals", stats.steals());
    counters.put("wakeups", stats.wakeups());
    counters.put("handoffs", stats.handoffs());
    counters.put("polls", stats.net().polls());
    counters.put("blockingPolls", stats.net().blockingPolls());
    counters.put("rescues", stats.rescues());
    return counters;
  }

  @Override
  public String version() {
    var versions = new Properties();
    try (var in = GloomThreads.class.getResourceAsStream("/dev/gloom/bench/version.properties")) {
      versions.load(Objects.requireNonNull(in));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return "gloom " + versions.getProperty("gloom") + " on " + Jvm.version();
  }
}
