package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;

/// The kernel's readiness queue, through the JDK's own calls: no library of gloom's own, no warning
/// about native access.
///
/// A descriptor can be in an epoll set once, with one mask, and *one shot* disables the whole mask.
/// So there are two sets, one for those who wait to read and one for the few who wait to write; the
/// second is a member of the first, and whoever waits for the first is told when the second has
/// something. An eventfd in the first breaks off a wait.
public final class Epoll {
  private static final int ADD = 1;
  private static final int DELETE = 2;
  private static final int MODIFY = 3;
  private static final int IN = 1;
  private static final int OUT = 4;
  private static final int ONE_SHOT = 1 << 30;
  private static final int ERROR = 8;
  private static final int HANG_UP = 16;
  private static final int URGENT = 2;
  private static final int NO_MORE = 1 << 13; // EPOLLRDHUP
  private static final int EXCLUSIVE = 1 << 28;
  private static final int EDGE = 1 << 31;

  /// All that a connection tells of.
  private static final int CONNECTION = IN | OUT | URGENT | NO_MORE | EDGE;

  private static final int ENOENT = 2;
  private static final int EEXIST = 17;
  private static final int EINVAL = 22;

  private final int reads;
  private final int writes;
  private final Object breaker;
  private final int breakFd;

  private Epoll(int reads, int writes, Object breaker, int breakFd) {
    this.reads = reads;
    this.writes = writes;
    this.breaker = breaker;
    this.breakFd = breakFd;
  }

  /// A new one: three descriptors.
  public static Epoll open() throws IOException {
    int reads = -1;
    int writes = -1;
    Object breaker = null;
    try {
      reads = (int) CREATE.invokeExact();
      writes = (int) CREATE.invokeExact();
      breaker = (Object) NEW_EVENT_FD.invokeExact();
      int breakFd = (int) EVENT_FD.invokeExact(breaker);
      CONFIGURE_BLOCKING.invokeExact((FileDescriptor) NEW_FD.invokeExact(breakFd), false);
      check((int) CONTROL.invokeExact(reads, ADD, writes, IN));
      check((int) CONTROL.invokeExact(reads, ADD, breakFd, IN));
      return new Epoll(reads, writes, breaker, breakFd);
    } catch (Throwable e) {
      close(reads);
      close(writes);
      if (breaker != null) {
        closeEventFd(breaker);
      }
      throw Thrown.unchecked(e);
    }
  }

  private static void check(int errno) throws IOException {
    if (errno != 0) {
      throw new IOException("epoll_ctl failed: " + errno);
    }
  }

  /// Has `fd` watched until it is ready once.
  public void arm(int fd, boolean read) throws IOException {
    int set = read ? reads : writes;
    int events = (read ? IN : OUT) | ONE_SHOT;
    try {
      int errno = (int) CONTROL.invokeExact(set, MODIFY, fd, events);
      if (errno == EINVAL) { // it is watched there, for good, and has become another's since
        int _ = (int) CONTROL.invokeExact(set, DELETE, fd, 0);
        errno = ENOENT;
      }
      if (errno == ENOENT) {
        errno = (int) CONTROL.invokeExact(set, ADD, fd, events);
      }
      check(errno);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Has `fd` watched from now on, in both directions: each time that it becomes ready is told
  /// once. False if that cannot be: it is an epoll set itself, of a selector. (Only these refuse to
  /// be exclusive, which means nothing for a descriptor that is in one set.)
  public boolean watch(int fd) throws IOException {
    int events = IN | OUT | EDGE | EXCLUSIVE;
    try {
      int errno = (int) CONTROL.invokeExact(reads, ADD, fd, events);
      if (errno == EEXIST) { // armed before, for once; or somebody else, who reads from it
        int _ = (int) CONTROL.invokeExact(reads, DELETE, fd, 0);
        errno = (int) CONTROL.invokeExact(reads, ADD, fd, CONNECTION);
      }
      if (errno == EINVAL) {
        return false;
      }
      if (errno != EEXIST) { // somebody else, in the other direction
        check(errno);
      }
      return true;
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// The same for a connection, whose end is told apart: see {@link Events#isEnd}. It may be in the
  /// set already.
  public void watchConnection(int fd) throws IOException {
    try {
      int errno = (int) CONTROL.invokeExact(reads, ADD, fd, CONNECTION);
      if (errno == EEXIST) { // what is ready is told again
        int _ = (int) CONTROL.invokeExact(reads, DELETE, fd, 0);
        errno = (int) CONTROL.invokeExact(reads, ADD, fd, CONNECTION);
      }
      check(errno);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Has `fd` watched no more.
  public void disarm(int fd, boolean read) {
    try {
      int _ = (int) CONTROL.invokeExact(read ? reads : writes, DELETE, fd, 0);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Waits until something is ready, or does not wait, and fills `events` with it: for how many?
  /// Less than 0 if a signal came.
  public int poll(Events events, boolean block) throws IOException {
    return wait(reads, events, block ? -1 : 0);
  }

  /// The same for those who wait to write, if {@link #isWrites} says so. Never blocks.
  public int pollWrites(Events events) throws IOException {
    return wait(writes, events, 0);
  }

  private static int wait(int set, Events events, int millis) {
    try {
      return (int) WAIT.invokeExact(set, events.address, events.most, millis);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Whether a descriptor that {@link #poll} reports stands for those who wait to write.
  public boolean isWrites(int fd) {
    return fd == writes;
  }

  /// Whether it stands for a wait that was broken off.
  public boolean isBreak(int fd) {
    return fd == breakFd;
  }

  /// Breaks off the wait that is on, or else the next one.
  public void interrupt() {
    try {
      SET.invokeExact(breaker);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Takes the breaks back that have been seen. They stay until somebody does.
  public void clearBreak() {
    try {
      boolean _ = (boolean) DRAIN.invokeExact(breakFd);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Gives the descriptors back. Nobody may be using them.
  public void close() {
    closeEventFd(breaker);
    close(writes);
    close(reads);
  }

  private static void close(int fd) {
    if (fd >= 0) {
      try {
        CLOSE.invokeExact(fd);
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }
  }

  private static void closeEventFd(Object breaker) {
    try {
      CLOSE_EVENT_FD.invokeExact(breaker);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Where the kernel puts what is ready: memory outside the heap, of one thread at a time.
  public static final class Events {
    private final long address;
    private final int most;

    /// Room for this many.
    public Events(int most) {
      this.most = most;
      try {
        this.address = (long) ALLOCATE.invokeExact(most);
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }

    /// The descriptor of the i-th.
    public int fd(int i) {
      try {
        return (int) DESCRIPTOR.invokeExact((long) EVENT.invokeExact(address, i));
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }

    /// Whether who reads from the i-th can go on.
    public boolean isReadable(int i) {
      return (bits(i) & (IN | URGENT | NO_MORE | ERROR | HANG_UP)) != 0;
    }

    /// Whether nothing will come from the i-th any more; or whether there is urgent data, at which
    /// a read stops short without having got all. Told of connections only, and of no error alone:
    /// a datagram socket goes on after one.
    public boolean isEnd(int i) {
      return (bits(i) & (NO_MORE | URGENT)) != 0;
    }

    /// Whether who writes to the i-th can go on.
    public boolean isWritable(int i) {
      return (bits(i) & (OUT | ERROR | HANG_UP)) != 0;
    }

    private int bits(int i) {
      try {
        return (int) BITS.invokeExact((long) EVENT.invokeExact(address, i));
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }

    /// Gives the memory back.
    public void free() {
      try {
        FREE.invokeExact(address);
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }
  }

  private static final MethodHandle CREATE;
  private static final MethodHandle CONTROL;
  private static final MethodHandle WAIT;
  private static final MethodHandle ALLOCATE;
  private static final MethodHandle FREE;
  private static final MethodHandle EVENT;
  private static final MethodHandle DESCRIPTOR;
  private static final MethodHandle BITS;
  private static final MethodHandle NEW_EVENT_FD;
  private static final MethodHandle EVENT_FD;
  private static final MethodHandle SET;
  private static final MethodHandle NEW_FD;
  private static final MethodHandle CONFIGURE_BLOCKING;
  private static final MethodHandle DRAIN;
  private static final MethodHandle CLOSE;
  private static final MethodHandle CLOSE_EVENT_FD;

  static {
    try {
      Class<?> epoll = Class.forName("sun.nio.ch.EPoll", false, null);
      Class<?> eventFd = Class.forName("sun.nio.ch.EventFD", false, null);
      Lookup in = Inside.of(epoll);
      Class<?> i = int.class;
      CREATE = in.findStatic(epoll, "create", methodType(i));
      CONTROL = in.findStatic(epoll, "ctl", methodType(i, i, i, i, i));
      WAIT = in.findStatic(epoll, "wait", methodType(i, i, long.class, i, i));
      ALLOCATE = in.findStatic(epoll, "allocatePollArray", methodType(long.class, i));
      FREE = in.findStatic(epoll, "freePollArray", methodType(void.class, long.class));
      EVENT = in.findStatic(epoll, "getEvent", methodType(long.class, long.class, i));
      DESCRIPTOR = in.findStatic(epoll, "getDescriptor", methodType(i, long.class));
      BITS = in.findStatic(epoll, "getEvents", methodType(i, long.class));
      NEW_EVENT_FD =
          in.findConstructor(eventFd, methodType(void.class)).asType(methodType(Object.class));
      EVENT_FD = in.findVirtual(eventFd, "efd", methodType(i)).asType(methodType(i, Object.class));
      SET =
          in.findVirtual(eventFd, "set", methodType(void.class))
              .asType(methodType(void.class, Object.class));
      Class<?> ioUtil = Class.forName("sun.nio.ch.IOUtil", false, null);
      NEW_FD = in.findStatic(ioUtil, "newFD", methodType(FileDescriptor.class, i));
      CONFIGURE_BLOCKING =
          in.findStatic(
              ioUtil,
              "configureBlocking",
              methodType(void.class, FileDescriptor.class, boolean.class));
      DRAIN = in.findStatic(ioUtil, "drain", methodType(boolean.class, i));
      Class<?> files = Class.forName("sun.nio.ch.UnixFileDispatcherImpl", false, null);
      CLOSE = in.findStatic(files, "closeIntFD", methodType(void.class, i));
      CLOSE_EVENT_FD =
          in.findVirtual(eventFd, "close", methodType(void.class))
              .asType(methodType(void.class, Object.class));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
