package dev.gloom.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassType;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.Location;
import com.sun.jdi.LongValue;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.ListeningConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.StepRequest;
import dev.gloom.api.ChildJvm;
import dev.gloom.api.Lab;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A debugger, attached through the JVM's own protocol, as an IDE attaches one: it stops inside a
/// goroutine, reads its variables, steps over what suspends it, stops and resumes one goroutine
/// while the others run, and all of them; and then the program ends as if nobody had looked.
@Timeout(180)
class DebuggerTest {
  private static final long PATIENCE_MILLIS = 60_000;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void stopsStepsAndResumes(int procs) throws Exception {
    ListeningConnector connector = listening();
    Map<String, Connector.Argument> arguments = connector.defaultArguments();
    arguments.get("localAddress").setValue("127.0.0.1");
    arguments.get("timeout").setValue(Long.toString(PATIENCE_MILLIS));
    String address = connector.startListening(arguments);
    try (var child =
        LiveJvm.start(
            List.of(
                ChildJvm.OPEN,
                "-ea",
                "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=" + address),
            DebuggerProgram.class,
            Integer.toString(procs))) {
      VirtualMachine vm = connector.accept(arguments);
      try {
        new Session(vm, procs).run();
      } catch (Throwable e) {
        throw new AssertionError(e + "\n" + child.output(), e);
      }
      assertEquals(0, child.end(), child::output);
      // 0 + 1 + 4 + 9 + 16, and 1 for each
      assertTrue(child.output().contains("sum=35\nthe end\n"), child::output);
    } finally {
      connector.stopListening(arguments);
    }
  }

  private static ListeningConnector listening() {
    for (ListeningConnector c : Bootstrap.virtualMachineManager().listeningConnectors()) {
      if (c.name().equals("com.sun.jdi.SocketListen")) {
        return c;
      }
    }
    throw new AssertionError("no connector com.sun.jdi.SocketListen");
  }

  private static final class Session {
    private final VirtualMachine vm;
    private final int procs;
    private ClassType program;

    /// The lines of the method `work`.
    private List<Location> lines;

    /// Where each worker was stopped, in order.
    private final Map<String, List<Integer>> stops = new TreeMap<>();

    private boolean looked;

    Session(VirtualMachine vm, int procs) {
      this.vm = vm;
      this.procs = procs;
    }

    void run() throws Exception {
      var prepare = vm.eventRequestManager().createClassPrepareRequest();
      prepare.addClassFilter(DebuggerProgram.class.getName());
      prepare.enable();
      vm.resume(); // it was started suspended
      while (stops.size() < 5 || !stops.values().stream().allMatch(s -> s.size() == 4)) {
        EventSet events = next();
        for (Event event : events) {
          handle(event);
        }
        events.resume();
      }
      assertTrue(looked);
      for (List<Integer> lineNumbers : stops.values()) {
        assertEquals(numbers(), lineNumbers);
      }
      suspendOne();
      suspendAll();
      program.setValue(program.fieldByName("stop"), vm.mirrorOf(true));
      vm.eventRequestManager().deleteAllBreakpoints();
      for (; ; ) {
        EventSet events = next();
        for (Event event : events) {
          if (event instanceof VMDeathEvent || event instanceof VMDisconnectEvent) {
            return;
          }
        }
        events.resume();
      }
    }

    private EventSet next() throws InterruptedException {
      EventSet events = vm.eventQueue().remove(PATIENCE_MILLIS);
      assertNotNull(events, () -> "no event; stopped so far: " + stops);
      return events;
    }

    /// The lines at which every worker stops: the second and what follows.
    private List<Integer> numbers() {
      var numbers = new ArrayList<Integer>();
      for (Location line : lines.subList(1, lines.size())) {
        numbers.add(line.lineNumber());
      }
      return numbers;
    }

    private void handle(Event event) throws Exception {
      switch (event) {
        case ClassPrepareEvent prepared -> {
          program = (ClassType) prepared.referenceType();
          lines = program.methodsByName("work").getFirst().allLineLocations();
          assertEquals(5, lines.size());
          var breakpoint = vm.eventRequestManager().createBreakpointRequest(lines.get(1));
          breakpoint.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
          breakpoint.enable();
        }
        case BreakpointEvent stopped -> {
          ThreadReference goroutine = stopped.thread();
          looksRight(goroutine, stopped.location());
          if (procs > 1 && !looked) {
            othersGoOn();
          }
          looked = true;
          StepRequest step =
              vm.eventRequestManager()
                  .createStepRequest(goroutine, StepRequest.STEP_LINE, StepRequest.STEP_OVER);
          step.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
          step.enable();
        }
        case StepEvent stepped -> {
          looksRight(stepped.thread(), stepped.location());
          if (stepped.location().lineNumber() == lines.getLast().lineNumber()) {
            vm.eventRequestManager().deleteEventRequest(stepped.request());
          }
        }
        default -> {} // the start of the JVM
      }
    }

    /// The goroutine's name, its place and its variables.
    private void looksRight(ThreadReference goroutine, Location at) throws Exception {
      assertTrue(goroutine.isVirtual());
      assertTrue(goroutine.isSuspended());
      StackFrame frame = goroutine.frame(0);
      int number = intOf(frame, "number");
      assertEquals("worker " + number, goroutine.name());
      assertEquals("work", at.method().name());
      assertEquals(at, frame.location());
      assertEquals(number * number, intOf(frame, "square"));
      if (at.lineNumber() > lines.get(2).lineNumber()) {
        assertEquals(number * number + 1, intOf(frame, "result"));
      }
      assertTrue(
          goroutine.frames().stream()
              .anyMatch(
                  f -> f.location().declaringType().name().equals("dev.gloom.runtime.G$Start")),
          "the whole stack is there");
      stops.computeIfAbsent(goroutine.name(), _ -> new ArrayList<>()).add(at.lineNumber());
    }

    private static int intOf(StackFrame frame, String variable) throws Exception {
      return ((IntegerValue) frame.getValue(frame.visibleVariableByName(variable))).value();
    }

    /// One goroutine is stopped, and with it its thread and processor; the others have the rest.
    private void othersGoOn() {
      long before = count("tocks");
      Lab.await("others go on beside one that is stopped", () -> count("tocks") > before + 10);
    }

    private void suspendOne() throws Exception {
      ThreadReference ticker = (ThreadReference) program.getValue(program.fieldByName("ticker"));
      assertEquals("ticker", ticker.name());
      for (int i = 0; i < 5; i++) {
        long running = count("ticks");
        Lab.await("the ticker runs", () -> count("ticks") > running);
        ticker.suspend();
        assertEquals(1, ticker.suspendCount());
        assertTrue(
            ticker.frames().stream().anyMatch(f -> f.location().method().name().equals("tick")));
        long ticks = count("ticks");
        if (procs > 1) {
          othersGoOn();
        }
        assertEquals(ticks, count("ticks"), "a suspended goroutine runs");
        ticker.resume();
      }
    }

    /// Everything stands still for longer than any slice, the monitor too, and goes on.
    private void suspendAll() throws Exception {
      vm.suspend();
      long ticks = count("ticks");
      long tocks = count("tocks");
      Thread.sleep(100);
      assertEquals(ticks, count("ticks"));
      assertEquals(tocks, count("tocks"));
      vm.resume();
      Lab.await("all go on", () -> count("ticks") > ticks + 10 && count("tocks") > tocks + 10);
    }

    private long count(String field) {
      return ((LongValue) program.getValue(program.fieldByName(field))).value();
    }
  }
}
