/// Goroutines for Java, on Go's scheduler. Start at {@link dev.gloom.Gloom}.
@NullMarked
package dev.gloom;

import org.jspecify.annotations.NullMarked;
