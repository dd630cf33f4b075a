/// The drop-in: moves every virtual thread of an unmodified program onto gloom.
@NullMarked
package dev.gloom.agent;

import org.jspecify.annotations.NullMarked;
