package dev.gloom.runtime;

/// {@link IdleModel} with a real P that is brisk and keeps one goroutine in its ring to itself.
class BriskModel extends IdleModel {
  /// A P wants one, of more than one; nothing here comes to its queues.
  private static final Sched SCHED = new Sched(2, Knobs.ofProcess());

  final P p = new P(SCHED, 0, new TimerHeap());

  BriskModel() {
    super(0, 0);
    while (!p.isBrisk()) {
      p.wantsToPoll();
    }
    p.put(newG(1));
  }

  @Override
  boolean hasWorkForOthers() {
    return p.hasWorkForOthers();
  }
}
