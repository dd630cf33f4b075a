package dev.gloom.bench;

import dev.gloom.bench.cases.Work;
import java.io.File;

/// The channels of jox, with the JDK's threads: a [JavaPeer] with one more library.
record JoxPeer() implements Peer {
  private static final String MAIN = "dev.gloom.bench.jox.JoxWorker";

  @Override
  public String name() {
    return Peers.JOX;
  }

  @Override
  public String about() {
    return "jox's channels between virtual threads on the JDK's scheduler";
  }

  @Override
  public Launch launch(BenchCase benchCase, Settings settings) throws ChildException {
    var needs = benchCase.work().needs();
    if (needs != Work.Needs.CHANNELS && needs != Work.Needs.SELECT) {
      return Launch.Absent.notApplicable("no channels in it: the same as jdk");
    }
    var build = new PeerBuild(settings.home(), name());
    String harness = System.getProperty("java.class.path");
    try {
      build.maven();
    } catch (PeerBuild.MissingException e) {
      return Launch.Absent.missing(String.valueOf(e.getMessage()));
    }
    build.javac(harness + File.pathSeparator + build.libraries());
    return JavaPeer.command(
        MAIN, harness + File.pathSeparator + build.classPath(), name(), benchCase, settings);
  }
}
