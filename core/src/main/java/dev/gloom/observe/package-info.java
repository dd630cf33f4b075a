/// Seeing and steering schedulers from outside the program: JMX.
@NullMarked
package dev.gloom.observe;

import org.jspecify.annotations.NullMarked;
