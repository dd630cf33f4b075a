package dev.gloom.observe;

/// What the scheduler calls once the program uses JMX. Apart from {@link Beans}, so that to make
/// one of these loads nothing of `java.management`, which would cost each start some 20 ms.
public final class Jmx implements Runnable {
  /// Does nothing yet.
  public Jmx() {}

  /// Keeps the beans of all schedulers registered; does not return.
  @Override
  public void run() {
    new Beans().follow();
  }
}
