/// Goroutines on Go's scheduler, for Java: every goroutine is a virtual thread of a stock JDK.
module dev.gloom {
  requires static transitive org.jspecify;

  // Present in every full JDK; without it, in a small image, there is no agent, but the library
  // works.
  requires static java.instrument;

  // As above: without it there are no beans.
  requires static java.management;

  exports dev.gloom;
  exports dev.gloom.observe;
}
