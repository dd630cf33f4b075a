package dev.gloom.bench;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The results file: an array with one object for each peer that was measured in each case.
final class Json {
  private Json() {}

  static void write(Path file, List<Outcome> outcomes) throws IOException {
    Files.writeString(file, format(outcomes));
  }

  static String format(List<Outcome> outcomes) {
    var objects = new ArrayList<String>();
    for (Outcome outcome : outcomes) {
      // The others have no number, and none is made up.
      if (outcome instanceof Outcome.Measured measured) {
        objects.add(object(measured));
      }
    }
    return objects.isEmpty() ? "[]\n" : "[\n  " + String.join(",\n  ", objects) + "\n]\n";
  }

  private static String object(Outcome.Measured measured) {
    var rounds = new ArrayList<String>();
    for (double round : measured.rounds()) {
      rounds.add(number(round));
    }
    return "{\"case\": "
        + string(measured.caseName())
        + ", \"peer\": "
        + string(measured.peer())
        + ", \"version\": "
        + string(measured.version())
        + ", \"unit\": \"ns/op\", \"rounds\": ["
        + String.join(", ", rounds)
        + "], \"median\": "
        + number(measured.median())
        + "}";
  }

  /// Four places: rounds have three, and the median of an even number of them one more.
  private static String number(double value) {
    return BigDecimal.valueOf(value)
        .setScale(4, RoundingMode.HALF_EVEN)
        .stripTrailingZeros()
        .toPlainString();
  }

  private static String string(String text) {
    var quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      switch (c) {
        case '"', '\\' -> quoted.append('\\').append(c);
        default -> {
          if (c < ' ') {
            quoted.append(String.format("\\u%04x", (int) c));
          } else {
            quoted.append(c);
          }
        }
      }
    }
    return quoted.append('"').toString();
  }
}
