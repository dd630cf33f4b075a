package dev.gloom.runtime;

import dev.gloom.jdk.Epoll;
import dev.gloom.jdk.FdSlots;
import dev.gloom.jdk.FdTable;
import dev.gloom.jdk.SocketCalls;
import dev.gloom.jdk.SocketDispatchers;
import dev.gloom.jdk.SocketPollers;
import dev.gloom.jdk.SocketWaits;
import dev.gloom.jdk.Vthread;
import java.io.IOException;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The network poller of one scheduler: the sockets that its goroutines wait for, in one epoll set.
///
/// A goroutine that reads from a socket where nothing has come yet parks in the JDK's `Poller`, as
/// every virtual thread does; gloom has replaced the poller behind it ({@link SocketPollers}). The
/// goroutine enters itself in a table by its descriptor, arms the descriptor, *one shot*, and
/// parks. Whoever polls takes the thread out of the table and unparks it. Refused:
///
/// - *a poller thread*, as the JDK has: each wake-up of a goroutine costs the wake-up of a thread
///   first, which then wakes another;
/// - *pollers that are goroutines*, the JDK's default: they take their turn in the run queues, so
///   with a thousand goroutines before them nobody looks at the sockets;
/// - *one set for the process*: its poller would have to know whose turn it is in each scheduler.
///
/// **Who polls**, and never two of the first three at once:
///
/// 1. an M that finds its own and the global queue empty, before it steals ({@link FindWork}); not
///    if 4 does it;
/// 2. a P that is busy, every so many dispatches; not if 4 does it. (In Go nobody: a program whose
///    Ps never run dry sees its sockets every 10 ms.)
/// 3. sysmon, if nobody else has since its last round;
/// 4. an idle M, *the poller*, which sleeps in the kernel until something is ready, then takes an
///    idle P and goes on there. {@link Idle} has the protocol, N1 to B4.
///
/// What 1 and 2 find goes to the tail of their P's ring in one batch, what 3 finds into the global
/// queue, what 4 finds to the P that it gets, or into the global queue if none is idle. With a
/// thousand connections that are always ready, 2 would keep the ring full, and who is in the global
/// queue would be served once in 61 dispatches: so while somebody is there, or the ring has no room
/// for all, whatever is found goes behind them.
///
/// **Nobody is lost.** The thread is in the table before its descriptor is armed, so whoever gets
/// the event finds it. An event that finds nobody, since the wait is over for another reason (a
/// time-out, an interrupt, a close), is dropped: one shot, so there is no second. An event that
/// finds another wait than the one it was meant for, since the number was used again meanwhile,
/// wakes a goroutine that tries, fails and arms its descriptor again: the JDK's code around the
/// wait is a loop.
///
/// **Registered once.** Unless `gloom.netpoll=epoll` says otherwise, a descriptor stays in the set
/// from its first wait to its close, edge-triggered, in both directions, and a wait costs no system
/// call. An edge that finds nobody is remembered in the table: the goroutine has tried and failed,
/// then swaps itself in; the poller swaps in "ready" if nobody is there. Whichever comes second
/// sees the other. An edge that was remembered for too long only makes somebody try in vain. When a
/// descriptor is closed it leaves the set by itself, and its number, used again, would never be
/// heard of; so {@link SocketDispatchers} tells of each close before it happens. A descriptor that
/// another scheduler's set has, or a selector's, is armed at each wait, as above; so are all, if
/// closes cannot be told of.
///
/// **Reads that are not tried.** The JDK tries to read before it waits, and in a dialogue that is
/// in vain each time. A read from a `java.net.Socket` that got less than it had room for has got
/// all there was: the next edge tells when there is more. So the slot says "drained", and the next
/// read is not tried ({@link VainReads} says when that pays) but waits:
///
/// ```
/// reader, under the lock for reading       the poller
/// R1 slot ready or drained -> empty        E1 the kernel reports an edge
/// R2 read: got some, less than room        E2 slot -> ready; a thread in it is woken
/// R3 CAS slot empty -> drained             E3 or, if the other side has sent its last: -> ended
/// R4 next read: drained? then wait
/// ```
///
/// What comes after R2 makes an edge after R2. Its E2 comes before R3, which fails, or after it,
/// and then the slot is not drained any more, or somebody waits and is woken. The kernel tells the
/// end of a stream by an edge as well, but that may come together with the data, and R2 gets the
/// data only: so the end is told apart (EPOLLRDHUP) and the slot stays "ended", which no R changes.
/// So is urgent data, at which R2 stops short. {@link FdTable} says what becomes of an end that is
/// told of a number which is another's by then.
///
/// **The end.** A closed scheduler gives its descriptors back when its threads have gone; sysmon,
/// the last of them, sees to that.
///
/// Go: `netpoll`, `netpollBreak`, `netpollWaiters`, `injectglist`
final class NetPoll {
  /// Half of what is dispatched between two looks, so that what is found has run by the next one.
  /// What is found has been touched, in the kernel and here; with Go's 128 thousands of connections
  /// were in the run queues and out of the cache again when their turn came (`./gloom bench
  /// echo/5000`: 8.9 us a message instead of 10.2 and 9.2, beside 9.6 on the JDK's scheduler).
  private static final int EVENTS = 32;

  /// As long as a thread takes to wake up.
  private static final long STILL_INSIDE_NANOS = 50_000;

  private static final String MODE = Knobs.netPoll(System.getProperties());

  /// The set in which a descriptor is for good; null if in none.
  private static final FdSlots WATCHED = new FdSlots();

  /// Which reads are likely to be in vain.
  private static final VainReads VAIN = new VainReads();

  /// In the place of a set: not for good, since it is a selector's.
  private static final Object NEVER_WATCHED = "never";

  /// Why descriptors are armed at each wait; null if they are watched for good.
  private static final @Nullable String NO_EDGE =
      MODE.equals("edge") ? SocketDispatchers.replace(new OfConnections()) : "not asked for";

  /// Why the JDK's own pollers serve all goroutines; null if gloom's do.
  private static final @Nullable String MISSING = replaceJdk();

  private final Sched sched;

  /// Made at the first wait.
  private volatile @Nullable Net net;

  /// Goroutines that wait, or have been woken and do not yet know.
  private volatile int waiting;

  /// 1 while somebody polls without blocking.
  private volatile int polling;

  /// 1 while an M is in the kernel, or handles what it found there.
  private volatile int blocking;

  // Counters; each written by one thread at a time, read by stats a little late.
  private long polls; // of the holder of polling
  private long readyInPolls;
  private long monitorPolls; // sysmon's
  private long blockingPolls; // the poller's
  private long readyInBlocking;

  /// What {@link dev.gloom.jdk.Mount#warm} answered last: kept, and of no use.
  private boolean warmed;

  // Sysmon only.
  private long seenPolls;
  private long seenStarts;

  NetPoll(Sched sched) {
    this.sched = sched;
  }

  /// Runs the static initialiser.
  static void install() {}

  private static @Nullable String replaceJdk() {
    String missing =
        MODE.equals("jdk") ? "gloom.netpoll=jdk is set" : SocketPollers.replace(new OfGoroutines());
    if (missing != null && System.getProperty("jdk.pollerMode") == null) {
      // The JDK's default would start its pollers as goroutines, inside the first that waits.
      System.setProperty("jdk.pollerMode", "1");
    }
    return missing;
  }

  /// What the kernel gave for it, and room for what it reports: once for those who do not block,
  /// once for the one who does.
  private static final class Net {
    /// In the place of the set: for good, and its end is told apart.
    final Object connections = new Object();

    final Epoll epoll;
    final Epoll.Events events = new Epoll.Events(EVENTS);
    final Epoll.Events writes = new Epoll.Events(EVENTS);
    final Epoll.Events blockingEvents = new Epoll.Events(EVENTS);
    final Epoll.Events blockingWrites = new Epoll.Events(EVENTS);

    Net() throws IOException {
      epoll = Epoll.open();
    }

    void close() {
      epoll.close();
      events.free();
      writes.free();
      blockingEvents.free();
      blockingWrites.free();
    }
  }

  // What the JDK calls, on the goroutine that waits.

  /// The waits of goroutines are gloom's; all others stay the JDK's.
  private static final class OfGoroutines implements SocketWaits {
    @Override
    public boolean begin(Thread thread) {
      G g = Vthread.scheduler(thread) instanceof G it ? it : null;
      if (g == null || !g.sched.netPoll.begin()) {
        return false;
      }
      g.inNetPoll = true;
      return true;
    }

    @Override
    public void needNotWait(Thread thread) {
      if (Vthread.scheduler(thread) instanceof G g) {
        g.needNotWait = true;
      }
    }

    @Override
    public boolean register(int fd, boolean read) throws IOException {
      G g = Sched.currentG();
      if (g == null || !g.inNetPoll) {
        return false;
      }
      if (g.needNotWait) {
        g.needNotWait = false;
        LockSupport.unpark(g.thread()); // itself: it is about to park
        return true;
      }
      boolean armed = false;
      try {
        g.sched.netPoll.arm(fd, read);
        armed = true;
      } finally {
        if (!armed) {
          g.inNetPoll = false;
          g.sched.netPoll.end();
        }
      }
      return true;
    }

    @Override
    public boolean deregister(int fd, boolean read, boolean polled) {
      G g = Sched.currentG();
      if (g == null || !g.inNetPoll) {
        return false;
      }
      g.inNetPoll = false;
      if (!polled) {
        g.sched.netPoll.disarm(fd, read);
      }
      g.sched.netPoll.end();
      return true;
    }
  }

  /// N1. False if the system has no descriptor to give for the set: then the wait is the JDK's, as
  /// any is that is not gloom's.
  boolean begin() {
    WAITING.getAndAdd(this, 1);
    if (net() != null) {
      return true;
    }
    end();
    return false;
  }

  void end() {
    WAITING.getAndAdd(this, -1);
  }

  /// The set, made if there is none; null if it cannot be.
  private @Nullable Net net() {
    Net existing = net;
    if (existing != null) {
      return existing;
    }
    try {
      var made = new Net();
      if (NET.compareAndSet(this, null, made)) {
        return made;
      }
      made.close();
      return net;
    } catch (IOException | LinkageError _) {
      return null;
    }
  }

  private void arm(int fd, boolean read) throws IOException {
    Net n = net();
    if (n == null) {
      throw new IOException("epoll_create failed"); // closed between begin and this, see close
    }
    if (NO_EDGE != null || !watch(n, fd)) {
      n.epoll.arm(fd, read);
    }
    M m = M.current();
    if (m == null || m.p == null) {
      sched.idle.awaited(); // N2 to N4; a P that the caller has goes idle later, and looks then
    }
  }

  /// Sees to it that `fd` is in the set for good. False if that cannot be: it is in another's, or a
  /// selector's.
  private static boolean watch(Net n, int fd) throws IOException {
    Object owner = WATCHED.get(fd);
    if (isIn(n, owner)) {
      return true;
    }
    if (owner != null) {
      return false;
    }
    boolean watched = n.epoll.watch(fd);
    WATCHED.swap(fd, watched ? n : NEVER_WATCHED);
    return watched;
  }

  private static boolean isIn(Net n, @Nullable Object owner) {
    return owner == n || owner == n.connections;
  }

  /// Reads that would be in vain are not tried.
  private static final class OfConnections implements SocketCalls {
    @Override
    public boolean beginRead(int fd) {
      Net n = net();
      if (n == null) {
        return true;
      }
      Object owner = WATCHED.get(fd);
      if (owner != n.connections) {
        if (owner == null || owner == n) {
          watchConnection(n, fd);
        }
        return true;
      }
      // One that is interrupted would not wait, and must get what is there.
      if (SocketPollers.READERS.isDrained(fd)
          && !Thread.currentThread().isInterrupted()
          && VAIN.expected(fd)) {
        return false;
      }
      SocketPollers.READERS.reading(fd);
      return true;
    }

    private static void watchConnection(Net n, int fd) {
      try {
        n.epoll.watchConnection(fd);
        WATCHED.swap(fd, n.connections);
      } catch (IOException e) {
        WATCHED.replace(fd, n, null); // it may be in no set now: a wait says what is wrong
      }
    }

    @Override
    public void endRead(int fd, int count, int room) {
      Net n = net();
      if (n != null && WATCHED.get(fd) == n.connections) {
        VAIN.tried(fd, count == UNAVAILABLE);
        if (count > 0 && count < room) {
          SocketPollers.READERS.drained(fd);
        }
      }
    }

    /// Its number may be another's then. Nobody waits for it.
    @Override
    public void closing(int fd) {
      if (fd >= 0) {
        WATCHED.swap(fd, null);
        VAIN.forget(fd);
        SocketPollers.READERS.forget(fd);
        SocketPollers.WRITERS.forget(fd);
      }
    }

    /// The set of the calling goroutine's scheduler, if there is one.
    private static @Nullable Net net() {
      G g = Sched.currentG();
      return g == null ? null : g.sched.netPoll.net;
    }
  }

  private void disarm(int fd, boolean read) {
    Net n = net;
    if (n != null && (NO_EDGE != null || !isIn(n, WATCHED.get(fd)))) {
      n.epoll.disarm(fd, read);
    }
  }

  // What Ms and sysmon call.

  /// Whether somebody waits for a socket. Called after a full fence, see Idle.
  boolean isAwaited() {
    return waiting != 0;
  }

  /// Whether it is worth while to poll: somebody waits, and no M sleeps in the kernel for it.
  boolean wantsPoll() {
    return waiting != 0 && !sched.idle.hasPoller();
  }

  /// Makes those runnable that can go on, in the queue of the calling M's P. Does not wait. True if
  /// there was one.
  boolean poll(M m) {
    return wantsPoll() && pollOnce(m) != 0;
  }

  /// How many it found; 0 also if another one is at it.
  private int pollOnce(@Nullable M m) {
    if (polling != 0 || !POLLING.compareAndSet(this, 0, 1)) {
      return 0;
    }
    int found = 0;
    try {
      Net n = net;
      if (n == null) {
        return 0;
      }
      int count = n.epoll.poll(n.events, false);
      polls++;
      found = count <= 0 ? 0 : deliver(m, n, n.events, n.writes, count);
      readyInPolls += found;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } finally {
      polling = 0;
    }
    return found;
  }

  /// Sleeps until something is ready or somebody breaks it off; B1 and B2. How many events there
  /// are for {@link #deliver}.
  int block(M m) {
    if (!BLOCKING.compareAndSet(this, 0, 1)) {
      // The last poller has been woken, but has not got out yet. The kernel wakes one of those that
      // sleep there, and it might be this one, which a break is not meant for.
      sched.parker.parkNanos(STILL_INSIDE_NANOS);
      return 0;
    }
    int count = 0;
    try {
      count = blockAlone(m);
    } finally {
      if (count == 0) {
        blocking = 0;
      }
    }
    return count;
  }

  private int blockAlone(M m) {
    Net n = net;
    if (n == null) {
      return 0;
    }
    m.inPoll = true; // volatile: then look. Idle.rouse gives or ends, then reads this
    int count = 0;
    try {
      if (m.given == null && !m.ending && sched.idle.isPoller(m)) {
        count = n.epoll.poll(n.blockingEvents, true);
        blockingPolls++;
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } finally {
      m.inPoll = false;
    }
    if (count == 1 && n.epoll.isBreak(n.blockingEvents.fd(0))) {
      n.epoll.clearBreak();
      return 0;
    }
    if (count > 0 && NO_EDGE == null && !isAwaited(n.blockingEvents, n, count)) {
      // Descriptors that stay in the set tell what nobody waits for: no reason to take a P.
      deliver(null, n, n.blockingEvents, n.blockingWrites, count);
      return 0;
    }
    return Math.max(count, 0);
  }

  private static boolean isAwaited(Epoll.Events events, Net n, int count) {
    for (int i = 0; i < count; i++) {
      int fd = events.fd(i);
      if (n.epoll.isWrites(fd)
          || SocketPollers.READERS.isAwaited(fd)
          || SocketPollers.WRITERS.isAwaited(fd)) {
        return true;
      }
    }
    return false;
  }

  /// Makes those runnable that {@link #block} has found.
  void deliver(M m, int count) {
    try {
      Net n = net;
      if (n != null) {
        readyInBlocking += deliver(m, n, n.blockingEvents, n.blockingWrites, count);
      }
    } finally {
      blocking = 0;
    }
  }

  /// Breaks off the wait of the poller. On the ready path.
  void interrupt() {
    Net n = net;
    if (n != null) {
      n.epoll.interrupt();
    }
  }

  /// Those into the ring of `m`, one after the other, and others are told once at the end; without
  /// a P or without room, or from a thread that is no M, into the global queue.
  private int deliver(@Nullable M m, Net n, Epoll.Events events, Epoll.Events writes, int count) {
    boolean inRing = m != null && m.p != null && hasRoom(m.p, count);
    if (m != null) {
      m.delivers = inRing ? M.INTO_RING : M.INTO_GLOBAL;
    }
    int found = 0;
    try {
      if (inRing && count > 1) {
        warmReaders(events, count);
      }
      for (int i = 0; i < count; i++) {
        int fd = events.fd(i);
        if (n.epoll.isWrites(fd)) {
          int more = n.epoll.pollWrites(writes);
          for (int j = 0; j < more; j++) {
            found += wake(SocketPollers.WRITERS, writes.fd(j));
          }
        } else if (!n.epoll.isBreak(fd)) {
          found += NO_EDGE == null ? wakeBoth(events, i, fd) : wake(SocketPollers.READERS, fd);
        } else if (events == n.blockingEvents) {
          n.epoll.clearBreak(); // only the poller: a break is for it
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } finally {
      if (m != null) {
        m.delivers = M.NOTHING;
      }
    }
    if (found != 0 && inRing) {
      sched.publishedInRing();
    }
    return found;
  }

  /// Those who are about to run here, one after the other, with what they need from memory: of
  /// thousands of connections little is in the cache (`./gloom bench echo/5000`: 7.5 us a message,
  /// 7.9 without it).
  private void warmReaders(Epoll.Events events, int count) {
    boolean warm = false;
    for (int i = 0; i < count; i++) {
      Thread waiter = SocketPollers.READERS.waiter(events.fd(i));
      if (waiter != null) {
        warm ^= sched.mount.warm(waiter);
      }
    }
    warmed = warm;
  }

  private boolean hasRoom(P p, int count) {
    return sched.global.isEmpty() && p.queue.room() >= count;
  }

  /// Reader and writer of a descriptor that stays in the set; what nobody waits for is remembered.
  private static int wakeBoth(Epoll.Events events, int i, int fd) {
    int found = 0;
    if (events.isReadable(i)) {
      found += wake(SocketPollers.READERS.takeOrRemember(fd, events.isEnd(i)));
    }
    if (events.isWritable(i)) {
      found += wake(SocketPollers.WRITERS.takeOrRemember(fd, false));
    }
    return found;
  }

  private static int wake(FdTable table, int fd) {
    return wake(table.take(fd));
  }

  private static int wake(@Nullable Thread waiter) {
    if (waiter == null) {
      return 0;
    }
    LockSupport.unpark(waiter);
    return 1;
  }

  /// A round of sysmon's: polls if nobody has since the last one; and if a P has been idle all the
  /// while and no M sleeps in the kernel, has one do so. True if that is so: then the next round
  /// should come soon. That a poll found something is no reason: a server would keep this thread at
  /// work for ever.
  boolean monitor() {
    long starts = sched.idle.starts();
    boolean quiet = starts == seenStarts;
    seenStarts = starts;
    long count = polls + blockingPolls;
    boolean polled = count != seenPolls;
    seenPolls = count;
    if (!wantsPoll()) {
      return false;
    }
    if (quiet && sched.idle.idleProcs() > 0) {
      sched.idle.wake();
      return true;
    }
    if (polled) {
      return false;
    }
    monitorPolls++;
    pollOnce(null);
    seenPolls = polls + blockingPolls;
    return false;
  }

  // The end.

  /// Whether there are descriptors to give back.
  boolean isOpen() {
    return net != null;
  }

  /// Gives the descriptors back; for sysmon, when the Ms have gone. A goroutine that slipped past
  /// the closing of its scheduler and waits now counts itself, or holds `polling`, and then looks
  /// for the set; here it is the other way round: it finds none, and makes a new one, or is seen,
  /// and then the old one is left as it is.
  void close() {
    Net n = net;
    if (n != null && NET.compareAndSet(this, n, null) && isUnused()) {
      n.close();
    }
  }

  private boolean isUnused() {
    return waiting == 0 && polling == 0 && blocking == 0;
  }

  // Seeing it.

  /// How many reads of goroutines were not tried; nearly.
  static long notTried() {
    return VAIN.notTried();
  }

  /// What has been counted; dev.gloom.Stats says what it means.
  Figures figures() {
    return new Figures(
        MISSING != null ? "jdk: " + MISSING : NO_EDGE == null ? "epoll, edge" : "epoll",
        waiting,
        readyInPolls + readyInBlocking,
        polls,
        blockingPolls,
        monitorPolls);
  }

  /// A moment's figures.
  public record Figures(
      String poller, int waiting, long ready, long polls, long blockingPolls, long monitorPolls) {}

  private static final VarHandle NET = handle("net", Net.class);
  private static final VarHandle WAITING = handle("waiting", int.class);
  private static final VarHandle POLLING = handle("polling", int.class);
  private static final VarHandle BLOCKING = handle("blocking", int.class);

  private static VarHandle handle(String name, Class<?> type) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, NetPoll.class, type);
  }
}
