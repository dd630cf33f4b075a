package dev.gloom.runtime;

import java.util.concurrent.atomic.AtomicInteger;

/// An alarm that counts how often it rang, and perhaps does something then.
class Bell extends Alarm {
  final int id;
  final AtomicInteger rang = new AtomicInteger();
  private final Runnable action;

  Bell() {
    this(0, () -> {});
  }

  Bell(int id) {
    this(id, () -> {});
  }

  Bell(int id, Runnable action) {
    this.id = id;
    this.action = action;
  }

  /// One that is armed for a time of a clock that began at 0, and in no heap.
  static Bell at(long when) {
    return at(0, when, () -> {});
  }

  static Bell at(int id, long when, Runnable action) {
    var bell = new Bell(id, action);
    bell.prepare(() -> 0, when);
    return bell;
  }

  @Override
  protected void ring() {
    rang.incrementAndGet();
    action.run();
  }

  @Override
  public String toString() {
    return "bell " + id + " at " + when + (isArmed() ? " armed" : "") + ", rang " + rang;
  }
}
