/// The `gloom` command: runs programs as goroutine 1 and says what it found.
@NullMarked
package dev.gloom.cli;

import org.jspecify.annotations.NullMarked;
