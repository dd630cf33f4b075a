package dev.gloom.runtime;

import dev.gloom.jdk.FdTable;

/// A connection on which something has come, and more may come while that is read: the real table,
/// and two numbers in the place of the kernel.
class DrainedModel {
  static final int FD = 0;

  final FdTable readers = new FdTable();
  volatile int came = 1;
  int got;

  DrainedModel() {
    readers.takeOrRemember(FD, false);
  }

  /// R2: all that came.
  void read() {
    got = came;
  }

  /// Something comes, and the poller hears of it: E1 and E2.
  void more() {
    came = 2;
    readers.takeOrRemember(FD, false);
  }

  String outcome() {
    return readers.isDrained(FD) && got != came ? "LOST" : "told";
  }
}
