package dev.gloom.jdk;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.Field;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;

/// Stands between the JDK's sockets and the system calls that close them and read from them.
///
/// The classes with sockets make these calls through an object in a static final field. It is
/// replaced by one of gloom's ({@link DispatcherClasses}). The JIT takes such a field for a
/// constant, and code that was compiled before would go on with the old object; so this is done
/// only if none of these classes has been initialised yet, and done at once after it has been.
///
/// Reads are told of for `java.net.Socket` only: a channel may be set not to block, and then a read
/// that is not tried is a wrong answer.
public final class SocketDispatchers {
  private static final String PACKAGE = "sun.nio.ch.";
  private static final String SOCKET = "NioSocketImpl";
  private static final String DATAGRAM = "DatagramChannelImpl";

  /// All that wait in `sun.nio.ch.Poller` and have a descriptor that is closed in Java. (A selector
  /// has one that is not.)
  private static final String[] WITH_SOCKETS = {
    SOCKET,
    "SocketChannelImpl",
    "ServerSocketChannelImpl",
    "SourceChannelImpl",
    "SinkChannelImpl",
    DATAGRAM
  };

  private SocketDispatchers() {}

  /// Has `calls` told from now on. Answers null, or why that cannot be.
  public static @Nullable String replace(SocketCalls calls) {
    try {
      var types = new Class<?>[WITH_SOCKETS.length];
      for (int i = 0; i < types.length; i++) {
        types[i] = Class.forName(PACKAGE + WITH_SOCKETS[i], false, null);
      }
      Lookup nio = Inside.of(types[0]);
      var classes = new DispatcherClasses(nio);
      for (Class<?> type : types) {
        if ((Object) classes.untouched.invokeExact(type) == Boolean.FALSE) {
          return "sockets were used before";
        }
      }
      LongBinaryOperator hook = new Hook(calls);
      for (Class<?> type : types) {
        Field field = type.getDeclaredField("nd");
        Class.forName(type.getName(), true, null);
        MethodHandle install =
            switch (type.getName().substring(PACKAGE.length())) {
              case SOCKET -> classes.ofSockets;
              case DATAGRAM -> classes.ofDatagrams;
              default -> classes.ofChannels;
            };
        install.invokeExact(field, hook);
      }
      return null;
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return e.toString();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// What the added classes call: a descriptor, and what is to be known of it.
  private static final class Hook implements LongBinaryOperator {
    private final SocketCalls calls;

    Hook(SocketCalls calls) {
      this.calls = calls;
    }

    @Override
    public long applyAsLong(long fd, long what) {
      int number = (int) fd;
      if (what == DispatcherClasses.READS) {
        return calls.beginRead(number) ? 1 : 0;
      }
      if (what == DispatcherClasses.CLOSES) {
        calls.closing(number);
      } else {
        calls.endRead(number, (int) (what >> 32), (int) what);
      }
      return 0;
    }
  }
}
