package dev.gloom.bench;

import java.util.List;
import java.util.Optional;

/// Every peer there is. A new one is a line here and a class that knows its command line.
final class Peers {
  static final String GLOOM = "gloom";
  static final String JDK = "jdk";
  static final String GO = "go";
  static final String KOTLIN = "kotlin";
  static final String JOX = "jox";
  static final String EXECUTOR = "executor";
  static final String CONTINUATION = "continuation";

  static final List<Peer> ALL =
      List.of(
          new JavaPeer(GLOOM, "goroutines on gloom's scheduler"),
          new JavaPeer(
              JDK, "virtual threads on the JDK's scheduler, queues of java.util.concurrent"),
          new GoPeer(),
          new KotlinPeer(),
          new JoxPeer(),
          new JavaPeer(EXECUTOR, "virtual threads on a queue that one thread empties: a floor"),
          new JavaPeer(CONTINUATION, "bare continuations on one thread: the floor, yield only"));

  /// Those that need nothing to be fetched.
  static final List<String> DEFAULTS = List.of(GLOOM, JDK, GO);

  private Peers() {}

  static Optional<Peer> named(String name) {
    return ALL.stream().filter(peer -> peer.name().equals(name)).findFirst();
  }

  static List<String> names() {
    return ALL.stream().map(Peer::name).toList();
  }
}
