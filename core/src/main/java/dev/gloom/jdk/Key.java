package dev.gloom.jdk;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.AccessibleObject;
import java.util.function.Function;

/// Opens members of the JDK for gloom, and for gloom alone.
///
/// An agent can open the JDK's packages to a module. But on the class path gloom's module is the
/// application's too: what is open to one is open to the other. So this class is defined once more,
/// in a class loader that has nothing else in it, and the packages are opened to that loader's
/// module. The copy makes accessible what it is handed, one member at a time; the application still
/// gets its InaccessibleObjectException.
public final class Key implements Function<Object, Object> {
  /// Made by Unlock, from the copy.
  public Key() {}

  /// Makes a member accessible and answers it; of a class, answers a lookup with private access.
  @Override
  public Object apply(Object memberOrClass) {
    if (memberOrClass instanceof AccessibleObject member) {
      member.setAccessible(true);
      return member;
    }
    var type = (Class<?>) memberOrClass;
    try {
      return MethodHandles.privateLookupIn(type, MethodHandles.lookup());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
