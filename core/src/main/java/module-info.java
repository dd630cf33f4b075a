/// Goroutines on Go's scheduler, for Java: every goroutine is a virtual thread of a stock JDK.
module dev.gloom {
  requires static transitive org.jspecify;

  exports dev.gloom;
}
