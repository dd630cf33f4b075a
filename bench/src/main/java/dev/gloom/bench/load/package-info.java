/// The clients of the server cases: processes of their own, the same for every peer.
@NullMarked
package dev.gloom.bench.load;

import org.jspecify.annotations.NullMarked;
