package sun.nio.ch;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.PortUnreachableException;
import java.util.function.LongBinaryOperator;
import jdk.internal.misc.Unsafe;
import sun.net.ConnectionResetException;

/// The classes that gloom adds to `sun.nio.ch` for `SocketDispatchers`. As those of `PollerClasses`
/// they know nothing of gloom: two copies of it can share them.
final class GloomDispatchers {
  private static final long CLOSES = -1;
  private static final long READS = -2;
  private static final int COUNT_SHIFT = 32;

  private GloomDispatchers() {}

  /// Whether a class has not been initialised.
  static boolean untouched(Class<?> type) {
    return Unsafe.getUnsafe().shouldBeInitialized(type);
  }

  /// Puts a dispatcher into the static final field of a class that has just been initialised. `of`
  /// says which one.
  static void install(Field field, String of, LongBinaryOperator hook, boolean byRecvAndSend) {
    Unsafe unsafe = Unsafe.getUnsafe();
    NativeDispatcher dispatcher =
        switch (of) {
          case "sockets" -> new OfSockets(hook, byRecvAndSend);
          case "connections" -> new OfConnections(hook, byRecvAndSend);
          case "datagrams" -> new OfDatagrams(hook);
          default -> new OfChannels(hook);
        };
    unsafe.putReferenceVolatile(
        unsafe.staticFieldBase(field), unsafe.staticFieldOffset(field), dispatcher);
  }

  /// Tells of closes.
  static class OfChannels extends SocketDispatcher {
    final LongBinaryOperator hook;

    OfChannels(LongBinaryOperator hook) {
      this.hook = hook;
    }

    @Override
    void close(FileDescriptor fd) throws IOException {
      hook.applyAsLong(IOUtil.fdVal(fd), CLOSES);
      super.close(fd);
    }
  }

  /// Reads and writes by `recv` and `send`, which do the same with a socket as `read` and `write`
  /// and leave out what the kernel does for files. These are the JDK's calls for datagrams; what
  /// they throw is put into the words of those for connections. They know an error by its message,
  /// so where the system does not speak English all is left as it was.
  static class OfConnections extends OfChannels {
    private static final DatagramDispatcher CALLS = new DatagramDispatcher();

    private final boolean byRecvAndSend;

    OfConnections(LongBinaryOperator hook, boolean byRecvAndSend) {
      super(hook);
      this.byRecvAndSend = byRecvAndSend;
    }

    @Override
    int read(FileDescriptor fd, long address, int room) throws IOException {
      if (!byRecvAndSend) {
        return super.read(fd, address, room);
      }
      try {
        return CALLS.read(fd, address, room);
      } catch (IOException e) {
        String message = e.getMessage();
        throw "Connection reset by peer".equals(message) || "Broken pipe".equals(message)
            ? new ConnectionResetException("Connection reset")
            : inWords(e);
      }
    }

    @Override
    int write(FileDescriptor fd, long address, int length) throws IOException {
      if (!byRecvAndSend) {
        return super.write(fd, address, length);
      }
      try {
        return CALLS.write(fd, address, length);
      } catch (IOException e) {
        throw inWords(e);
      }
    }

    private static IOException inWords(IOException e) {
      return e instanceof PortUnreachableException ? new IOException("Connection refused") : e;
    }
  }

  /// Tells of reads too, and does not try those that would be in vain.
  static final class OfSockets extends OfConnections {
    OfSockets(LongBinaryOperator hook, boolean byRecvAndSend) {
      super(hook, byRecvAndSend);
    }

    @Override
    int read(FileDescriptor fd, long address, int room) throws IOException {
      int number = IOUtil.fdVal(fd);
      if (hook.applyAsLong(number, READS) == 0) {
        return IOStatus.UNAVAILABLE;
      }
      int count = super.read(fd, address, room);
      hook.applyAsLong(number, (long) count << COUNT_SHIFT | room);
      return count;
    }
  }

  /// Tells of closes, and of those by `dup`, which closes its second argument.
  static final class OfDatagrams extends DatagramDispatcher {
    private final LongBinaryOperator hook;

    OfDatagrams(LongBinaryOperator hook) {
      this.hook = hook;
    }

    @Override
    void close(FileDescriptor fd) throws IOException {
      hook.applyAsLong(IOUtil.fdVal(fd), CLOSES);
      super.close(fd);
    }

    @Override
    void dup(FileDescriptor fd1, FileDescriptor fd2) throws IOException {
      hook.applyAsLong(IOUtil.fdVal(fd2), CLOSES);
      super.dup(fd1, fd2);
    }
  }
}
