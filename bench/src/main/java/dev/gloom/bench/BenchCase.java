package dev.gloom.bench;

import dev.gloom.bench.cases.Work;
import java.util.List;

/// One line of work in one variant, the same for every peer.
///
/// @param name the name on the command line, and the name of the twin in other languages
/// @param variant what is special about this one, as in `name/variant`; empty if there is only one
/// @param about what an operation is, for `--list`
/// @param procs how many processors every peer is limited to
/// @param size operations a round, about
/// @param floors peers that always run along, because the case is about what comes on top of them
record BenchCase(
    String name,
    String variant,
    String about,
    int procs,
    long size,
    List<String> floors,
    Work work) {
  String fullName() {
    return variant.isEmpty() ? name : name + "/" + variant;
  }
}
