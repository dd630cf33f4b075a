package dev.gloom.runtime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Where a sender and a receiver meet that run at the same time. {@link MeetingBrokenStress} is the
/// twin.
public class MeetingStress {
  private MeetingStress() {}

  /// What became of so many values: each that was given was received once.
  static String outcome(int given, int received) {
    return received < given ? "LOST" : received > given ? "TWICE" : given == 0 ? "none" : "met";
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("a sender against a receiver that hardly stays")
  @State
  public static class GiveAgainstLeave {
    private final Channel channel = new Channel(0);
    private final Meeting meeting = new Meeting();
    private int given;
    private int received;

    @Actor
    public void sender() {
      given += meeting.give(channel, null, "value", 3, 0) ? 1 : 0;
    }

    @Actor
    public void receiver() {
      received += meeting.receive(channel, null, 1, 0) != null ? 1 : 0;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome(given, received);
    }
  }

  @JCStressTest
  @JCStressMeta(Grading.Sound.class)
  @Description("two values, one after the other")
  @State
  public static class Twice {
    private final Channel channel = new Channel(0);
    private final Meeting meeting = new Meeting();
    private int given;
    private int received;

    @Actor
    public void sender() {
      given += meeting.give(channel, null, "one", 3, 0) ? 1 : 0;
      given += meeting.give(channel, null, "other", 3, 0) ? 1 : 0;
    }

    @Actor
    public void receiver() {
      received += meeting.receive(channel, null, 2, 0) != null ? 1 : 0;
      received += meeting.receive(channel, null, 1, 0) != null ? 1 : 0;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = outcome(given, received);
    }
  }
}
