package dev.gloom.bench;

import java.util.List;
import java.util.Map;

/// Somebody who can do the work of a case: a way to start a child process that speaks the protocol
/// of [Child].
interface Peer {
  String name();

  String about();

  /// How to start a child for this case, or why there is none.
  Launch launch(BenchCase benchCase, Settings settings) throws ChildException;

  sealed interface Launch {
    /// @param environment added to the harness's own
    record Command(List<String> words, Map<String, String> environment) implements Launch {}

    /// @param word what the table shows in place of a time
    record Absent(String word, String why) implements Launch {
      static Absent missing(String why) {
        return new Absent("missing", why);
      }

      static Absent notApplicable(String why) {
        return new Absent("n/a", why);
      }
    }
  }
}
