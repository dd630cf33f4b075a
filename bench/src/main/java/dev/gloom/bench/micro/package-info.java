/// Small benchmarks under JMH, for questions about one step rather than about a scheduler.
@NullMarked
package dev.gloom.bench.micro;

import org.jspecify.annotations.NullMarked;
