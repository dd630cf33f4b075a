package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.Field;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;

/// Stands between the JDK's sockets and the system calls that close them, read and write.
///
/// The classes with sockets make these calls through an object in a static final field. It is
/// replaced by one of gloom's, of a class that is added to `sun.nio.ch` (`GloomDispatchers` in
/// `src/main/nestmates`). The JIT takes such a field for a constant, and code that was compiled
/// before would go on with the old object; so this is done only if none of these classes has been
/// initialised yet, and done at once after it has been.
///
/// **Connections** are read and written by `recv` and `send`: a request and its answer take 150 ns
/// less than by `read` and `write`, and 350 less where thousands of connections keep what the
/// kernel knows of each file out of the cache. On a JDK whose native code was read; its class files
/// do not tell what `recv` makes of the end of a stream.
///
/// Reads are told of for `java.net.Socket` only: a channel may be set not to block, and then a read
/// that is not tried is a wrong answer.
public final class SocketDispatchers {
  private static final String PACKAGE = "sun.nio.ch.";
  private static final String SOCKET = "NioSocketImpl";
  private static final String CHANNEL = "SocketChannelImpl";
  private static final String DATAGRAM = "DatagramChannelImpl";
  private static final String[] CLASSES = {
    "", "$OfChannels", "$OfConnections", "$OfSockets", "$OfDatagrams"
  };

  private static final long CLOSES = -1;
  private static final long READS = -2;

  /// All that wait in `sun.nio.ch.Poller` and have a descriptor that is closed in Java. (A selector
  /// has one that is not.)
  private static final String[] WITH_SOCKETS = {
    SOCKET, CHANNEL, "ServerSocketChannelImpl", "SourceChannelImpl", "SinkChannelImpl", DATAGRAM
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
      Class<?> dispatchers = define(nio);
      MethodHandle untouched =
          nio.findStatic(dispatchers, "untouched", methodType(boolean.class, Class.class));
      MethodHandle install =
          nio.findStatic(
              dispatchers,
              "install",
              methodType(
                  void.class, Field.class, String.class, LongBinaryOperator.class, boolean.class));
      for (Class<?> type : types) {
        if (!(boolean) untouched.invokeExact(type)) {
          return "sockets were used before";
        }
      }
      boolean byRecvAndSend = LeanMount.isKnown(Runtime.version()) && inEnglish();
      LongBinaryOperator hook = new Hook(calls);
      for (Class<?> type : types) {
        Field field = type.getDeclaredField("nd");
        Class.forName(type.getName(), true, null);
        String of =
            switch (type.getName().substring(PACKAGE.length())) {
              case SOCKET -> "sockets";
              case CHANNEL -> "connections";
              case DATAGRAM -> "datagrams";
              default -> "channels";
            };
        install.invokeExact(field, of, hook, byRecvAndSend);
      }
      return null;
    } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
      return e.toString();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Defines the added classes, or finds those of another gloom. All are there when this returns.
  private static Class<?> define(Lookup nio) throws ReflectiveOperationException, IOException {
    String outer = PACKAGE + "GloomDispatchers";
    for (String inner : CLASSES) {
      byte[] file = Inside.classFile(outer + inner);
      try {
        nio.defineClass(file);
      } catch (LinkageError e) {
        if (e.getClass() != LinkageError.class) {
          throw e;
        }
        Class.forName(outer + inner, true, null); // a duplicate, as it should be
      }
    }
    return Class.forName(outer, true, null);
  }

  /// Whether the C library's words for errors, which the JDK puts into its exceptions, are those
  /// that the added classes know.
  private static boolean inEnglish() {
    try (var file = new FileInputStream("/proc/self/there is no such file")) {
      return file.available() < 0;
    } catch (IOException e) {
      String message = e.getMessage();
      return message != null && message.endsWith(" (No such file or directory)");
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
      if (what == READS) {
        return calls.beginRead(number) ? 1 : 0;
      }
      if (what == CLOSES) {
        calls.closing(number);
      } else {
        calls.endRead(number, (int) (what >> 32), (int) what);
      }
      return 0;
    }
  }
}
