/// The work of each case, written once for every peer that runs Java, and the kinds of threads it
/// runs on.
@NullMarked
package dev.gloom.bench.cases;

import org.jspecify.annotations.NullMarked;
