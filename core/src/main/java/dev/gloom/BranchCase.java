package dev.gloom;

import dev.gloom.runtime.Channel;
import dev.gloom.runtime.Ticket;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A case that receives nothing: a send, a time-out, or what to do otherwise.
final class BranchCase<R extends @Nullable Object> extends Ticket implements Case<R> {
  private final Branch<R> branch;

  BranchCase(Kind kind, @Nullable Channel channel, @Nullable Object value, Branch<R> branch) {
    super(kind, channel, value);
    this.branch = branch;
  }

  @Override
  protected @Nullable Object chosen(@Nullable Object received, boolean ok) throws Exception {
    if (!ok) {
      throw Chan.sendOnClosed(Objects.requireNonNull(channel()));
    }
    return branch.run();
  }
}
