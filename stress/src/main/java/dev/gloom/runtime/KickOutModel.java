package dev.gloom.runtime;

/// {@link IdleModel} with a real P, for what its run-next pushes out into the ring.
class KickOutModel extends IdleModel {
  /// A P wants one; nothing here comes to its queues.
  private static final Sched SCHED = new Sched(1, Knobs.ofProcess());

  final P p = new P(SCHED, 0, new TimerHeap());
  final G second = newG(2);

  /// The P has one goroutine in its run-next. If it keeps those, nobody is told about that one.
  KickOutModel(boolean keepsNext) {
    super(0, 0);
    G first = newG(1);
    while (keepsNext && !p.keepsNext()) {
      p.putNext(first);
      p.takeNext();
    }
    p.putNext(first);
  }

  @Override
  boolean hasWorkForOthers() {
    return p.hasWorkForOthers();
  }
}
