/// The scheduler: goroutines (G) on processors (P) on OS threads (M). Internal, flat, a file per
/// concept; ARCHITECTURE.md walks one goroutine through them in reading order.
@NullMarked
package dev.gloom.runtime;

import org.jspecify.annotations.NullMarked;
