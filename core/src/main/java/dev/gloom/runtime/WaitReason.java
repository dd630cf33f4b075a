package dev.gloom.runtime;

import org.jspecify.annotations.Nullable;

/// Why a goroutine waits, in Go's words. What waits through gloom says so before it parks ({@link
/// G#waitReason}); what waits through Java's own classes is told from its thread when somebody
/// asks.
public enum WaitReason {
  SLEEP("sleep"),
  CHAN_RECEIVE("chan receive"),
  CHAN_RECEIVE_NIL("chan receive (nil chan)"),
  CHAN_SEND("chan send"),
  CHAN_SEND_NIL("chan send (nil chan)"),
  SELECT("select"),
  SELECT_NO_CASES("select (no cases)"),
  WAIT_GROUP("sync.WaitGroup.Wait"),
  IO("IO wait");

  private static final WaitReason[] ALL = values();

  /// As Go prints it.
  public final String text;

  /// What stands for it in {@link G#waitReason}; 0 stands for none.
  final byte code = (byte) (ordinal() + 1);

  WaitReason(String text) {
    this.text = text;
  }

  static @Nullable WaitReason of(byte code) {
    return code == 0 ? null : ALL[code - 1];
  }
}
