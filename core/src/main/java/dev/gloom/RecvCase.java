package dev.gloom;

import dev.gloom.runtime.Channel;
import dev.gloom.runtime.Ticket;
import org.jspecify.annotations.Nullable;

/// A case that receives.
final class RecvCase<T, R extends @Nullable Object> extends Ticket implements Case<R> {
  private final RecvBranch<T, R> branch;

  RecvCase(@Nullable Channel channel, RecvBranch<T, R> branch) {
    super(Kind.RECV, channel, null);
    this.branch = branch;
  }

  @Override
  @SuppressWarnings("unchecked") // from a channel of T
  protected @Nullable Object chosen(@Nullable Object received, boolean ok) throws Exception {
    return branch.run((T) received);
  }
}
