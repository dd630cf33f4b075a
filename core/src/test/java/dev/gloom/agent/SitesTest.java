package dev.gloom.agent;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import org.junit.jupiter.api.Test;

class SitesTest {
  private static final MethodType TYPE = MethodType.methodType(boolean.class, boolean.class);
  private static final String NAME = SitesTest.class.getName();

  private final Sites sites = new Sites();

  /// As a check of this class asks for it.
  private MutableCallSite site() {
    return (MutableCallSite) sites.apply(MethodHandles.lookup(), TYPE);
  }

  @Test
  void isDisarmedWhenNobodyHasBeenCaughtForAWhile() {
    MutableCallSite site = site();
    MethodHandle nothing = site.getTarget();
    sites.arm(NAME, 0);
    assertNotSame(nothing, site.getTarget());
    assertTrue(sites.disarm(59, 60), "armed");
    assertNotSame(nothing, site.getTarget());
    assertFalse(sites.disarm(60, 60));
    assertSame(nothing, site.getTarget());
  }

  @Test
  void whoIsCaughtAgainStaysArmed() {
    MutableCallSite site = site();
    MethodHandle nothing = site.getTarget();
    sites.arm(NAME, 0);
    sites.arm(NAME, 30);
    assertTrue(sites.disarm(89, 60), "armed");
    assertNotSame(nothing, site.getTarget());
    assertFalse(sites.disarm(90, 60));
    assertSame(nothing, site.getTarget());
    sites.arm(NAME, 100);
    assertNotSame(nothing, site.getTarget(), "and can be armed again");
  }

  @Test
  void whoReachesItsFirstCheckLaterIsArmedToo() {
    MethodHandle nothing =
        ((MutableCallSite) new Sites().apply(MethodHandles.lookup(), TYPE)).getTarget();
    assertFalse(sites.has(NAME));
    sites.arm(NAME, 0);
    assertNotSame(nothing, site().getTarget());
    assertTrue(sites.has(NAME));
  }
}
