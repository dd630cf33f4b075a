/// gloom beside its peers: the same work, interleaved in one run.
///
/// A walk: [Bench] reads the command line, [Cases] lists the work and [Peers] who can do it.
/// [Interleaved] keeps one [Child] process a peer and asks each in turn for one round; a Java child
/// is a [Worker]. [Report] and [Json] show what came back.
@NullMarked
package dev.gloom.bench;

import org.jspecify.annotations.NullMarked;
