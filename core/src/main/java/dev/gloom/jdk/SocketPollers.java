package dev.gloom.jdk;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.Field;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntBinaryOperator;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Puts gloom's network poller in the place of the JDK's.
///
/// A virtual thread that has to wait for a socket, whichever class it uses, parks in
/// `sun.nio.ch.Poller`, in one of the elements of two arrays. These are made when the first thread
/// waits, by a `PollerProvider`. So a provider of gloom's is written into the static field where
/// the JDK keeps its own, which costs a program without sockets next to nothing; and if the
/// elements are there already, since sockets were used before gloom was, they are replaced.
///
/// An element of gloom's has the JDK's behind it, for the virtual threads that are not gloom's:
/// they are served by the JDK's poller threads as before. (In the place of the default, which polls
/// by virtual threads: those would come to life inside whichever goroutine waits first, and be
/// goroutines.)
///
/// Both classes must be of the package `sun.nio.ch`; {@link PollerClasses} writes them.
public final class SocketPollers {
  /// Who waits to read, and who to write.
  public static final FdTable READERS = new FdTable();

  /// Who waits to write, or to be connected.
  public static final FdTable WRITERS = new FdTable();

  // What an element is asked; the first two are the JDK's boolean `polled`.
  static final int DEREGISTER = 0;
  static final int DEREGISTER_POLLED = 1;
  static final int REGISTER = 2;
  static final int POLL = 3;

  private SocketPollers() {}

  /// Has all waits offered to `waits` from now on. Answers null, or why that cannot be; then
  /// everything is as it was.
  public static @Nullable String replace(SocketWaits waits) {
    String mode = System.getProperty("jdk.pollerMode");
    if (mode != null && !mode.equals("1") && !mode.equalsIgnoreCase("SYSTEM_THREADS")) {
      return "jdk.pollerMode=" + mode + " is set";
    }
    try {
      Class<?> type = Class.forName("sun.nio.ch.PollerProvider", true, null);
      Class.forName("sun.nio.ch.EPoll", false, null);
      Lookup lookup = Inside.of(type);
      var classes = new PollerClasses(lookup);
      Object jdk = (Object) classes.current.invokeExact();
      var maker = new Maker(lookup, classes.poller, waits, jdk);
      classes.install.invokeExact(type.getDeclaredField("INSTANCE"), (IntFunction<?>) maker);
      if ((Object) classes.unstarted.invokeExact() == Boolean.FALSE) {
        maker.replaceElements();
      }
      return null;
    } catch (ClassNotFoundException _) {
      return "no epoll on " + System.getProperty("os.name", "this system").toLowerCase(Locale.ROOT);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return e.toString();
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /// Makes elements, when the JDK asks for them.
  private static final class Maker implements IntFunction<Object> {
    private final Lookup lookup;
    private final Class<?> ours;
    private final SocketWaits waits;
    private final Object jdkProvider;

    Maker(Lookup lookup, Class<?> ours, SocketWaits waits, Object jdkProvider) {
      this.lookup = lookup;
      this.ours = ours;
      this.waits = waits;
      this.jdkProvider = jdkProvider;
    }

    /// An element for reads (1) or writes (0), with one of the JDK's behind it.
    @Override
    public Object apply(int read) {
      try {
        String name = read == 1 ? "readPoller" : "writePoller";
        Class<?> poller = Class.forName("sun.nio.ch.Poller", false, null);
        MethodHandle make =
            lookup
                .findVirtual(lookup.lookupClass(), name, methodType(poller, boolean.class))
                .asType(methodType(Object.class, Object.class, boolean.class));
        return element((Object) make.invokeExact(jdkProvider, false), read == 1);
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }

    private Object element(Object jdk, boolean read) throws Throwable {
      Class<?> poller = Class.forName("sun.nio.ch.Poller", false, null);
      var hook = new Element(lookup, poller, jdk, waits, read);
      @SuppressWarnings("unchecked")
      var threads =
          (Map<Integer, @Nullable Thread>)
              Inside.of(poller).findGetter(poller, "map", Map.class).invoke(jdk);
      var map = new PollerMap(read ? READERS : WRITERS, waits, threads);
      Field field = poller.getDeclaredField("map");
      return lookup
          .findConstructor(
              ours, methodType(void.class, IntBinaryOperator.class, Map.class, Field.class))
          .invoke(hook, map, field);
    }

    /// Sockets were used before.
    void replaceElements() throws Throwable {
      Class<?> poller = Class.forName("sun.nio.ch.Poller", true, null);
      Class<?> all = Class.forName("sun.nio.ch.Poller$Pollers", true, null);
      Object pollers = Inside.of(poller).findStaticGetter(poller, "POLLERS", all).invoke();
      for (String name : new String[] {"readPollers", "writePollers"}) {
        var elements =
            (Object[]) Inside.of(all).findGetter(all, name, poller.arrayType()).invoke(pollers);
        for (int i = 0; i < elements.length; i++) {
          Object there = elements[i];
          if (!isOwn(there)) {
            Object replaced = element(there, name.equals("readPollers"));
            MethodHandles.arrayElementVarHandle(Object[].class).setVolatile(elements, i, replaced);
          }
        }
      }
    }

    private boolean isOwn(Object element) throws Throwable {
      return ours.isInstance(element)
          && lookup.findGetter(ours, "hook", IntBinaryOperator.class).invoke(element)
              instanceof Element;
    }
  }

  /// What one element does when the JDK calls it.
  private static final class Element implements IntBinaryOperator {
    private final MethodHandle register;
    private final MethodHandle deregister;
    private final MethodHandle poll;
    private final SocketWaits waits;
    private final boolean read;

    Element(Lookup lookup, Class<?> poller, Object jdk, SocketWaits waits, boolean read)
        throws ReflectiveOperationException {
      this.register =
          lookup.findVirtual(poller, "implRegister", methodType(void.class, int.class)).bindTo(jdk);
      this.deregister =
          lookup
              .findVirtual(
                  poller, "implDeregister", methodType(void.class, int.class, boolean.class))
              .bindTo(jdk);
      this.poll = lookup.findVirtual(poller, "poll", methodType(int.class, int.class)).bindTo(jdk);
      this.waits = waits;
      this.read = read;
    }

    @Override
    public int applyAsInt(int fd, int what) {
      try {
        switch (what) {
          case REGISTER -> {
            if (!waits.register(fd, read)) {
              register.invokeExact(fd);
            }
          }
          case DEREGISTER, DEREGISTER_POLLED -> {
            if (!waits.deregister(fd, read, what == DEREGISTER_POLLED)) {
              deregister.invokeExact(fd, what == DEREGISTER_POLLED);
            }
          }
          default -> {
            return (int) poll.invokeExact(fd); // a time-out, and a poller thread of the JDK's
          }
        }
        return 0;
      } catch (Throwable e) {
        throw Thrown.unchecked(e);
      }
    }
  }
}
