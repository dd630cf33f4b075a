/// The one door to the JDK's internals: making, mounting and inspecting a virtual thread, and the
/// carrier under it. No other package reflects; a newer JDK means changing this one.
@NullMarked
package dev.gloom.jdk;

import org.jspecify.annotations.NullMarked;
