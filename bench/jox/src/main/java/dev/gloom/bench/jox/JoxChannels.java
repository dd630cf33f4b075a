package dev.gloom.bench.jox;

import com.softwaremill.jox.Channel;
import com.softwaremill.jox.Select;
import com.softwaremill.jox.SelectClause;
import dev.gloom.bench.cases.Channels;
import java.util.List;

/// The channels of jox.
final class JoxChannels implements Channels {
  @Override
  public Pipe make(int capacity) {
    return new JoxPipe(
        capacity == 0 ? Channel.newRendezvousChannel() : Channel.newBufferedChannel(capacity));
  }

  @Override
  public Source anyOf(List<Pipe> pipes) {
    return new JoxSelect(pipes.stream().map(pipe -> ((JoxPipe) pipe).channel()).toList());
  }

  private record JoxPipe(Channel<Integer> channel) implements Pipe {
    @Override
    public void send(Integer value) {
      try {
        channel.send(value);
      } catch (InterruptedException e) {
        throw Channels.unexpected(e);
      }
    }

    @Override
    public Integer recv() {
      try {
        return channel.receive();
      } catch (InterruptedException e) {
        throw Channels.unexpected(e);
      }
    }
  }

  /// The clauses are made anew for each select, as where a program writes them down in one.
  private static final class JoxSelect implements Source {
    private final Channel<Integer>[] channels;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    JoxSelect(List<Channel<Integer>> channels) {
      this.channels = channels.toArray(Channel[]::new);
    }

    @Override
    public Integer recv() {
      @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
      SelectClause<Integer>[] clauses = new SelectClause[channels.length];
      for (int i = 0; i < channels.length; i++) {
        clauses[i] = channels[i].receiveClause();
      }
      try {
        return Select.select(clauses);
      } catch (InterruptedException e) {
        throw Channels.unexpected(e);
      }
    }
  }
}
