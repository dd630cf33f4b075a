/// Java inside a goroutine: what the JDK promises of its virtual threads holds for goroutines too.
///
/// Most tests here run twice, on gloom's thread factory and on the JDK's own as a control, and
/// compare: the JDK says what is right, not the test. {@link dev.gloom.java.Crew} is that
/// comparison.
package dev.gloom.java;
