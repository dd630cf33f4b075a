package dev.gloom.bench.cases;

import dev.gloom.Case;
import dev.gloom.Chan;
import dev.gloom.Gloom;
import java.util.List;
import java.util.Objects;

/// gloom's channels.
final class GloomChannels implements Channels {
  @Override
  public Pipe make(int capacity) {
    return new GloomPipe(Chan.make(capacity));
  }

  @Override
  public Source anyOf(List<Pipe> pipes) {
    return new GloomSelect(pipes.stream().map(pipe -> ((GloomPipe) pipe).chan()).toList());
  }

  private record GloomPipe(Chan<Integer> chan) implements Pipe {
    @Override
    public void send(Integer value) {
      try {
        chan.send(value);
      } catch (InterruptedException e) {
        throw Channels.unexpected(e);
      }
    }

    @Override
    public Integer recv() {
      try {
        return Objects.requireNonNull(chan.recv());
      } catch (InterruptedException e) {
        throw Channels.unexpected(e);
      }
    }
  }

  /// The cases are made anew for each select, as where a program writes them down in one.
  private static final class GloomSelect implements Source {
    private final Chan<Integer>[] chans;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    GloomSelect(List<Chan<Integer>> chans) {
      this.chans = chans.toArray(Chan[]::new);
    }

    @Override
    public Integer recv() {
      @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
      Case<Integer>[] cases = new Case[chans.length];
      for (int i = 0; i < chans.length; i++) {
        cases[i] = Gloom.recv(chans[i], Objects::requireNonNull);
      }
      try {
        return Gloom.select(cases);
      } catch (Exception e) {
        throw Channels.unexpected(e);
      }
    }
  }
}
