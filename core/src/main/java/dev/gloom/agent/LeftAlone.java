package dev.gloom.agent;

/// Why a class or method that is in order gets no checks all the same.
final class LeftAlone extends RuntimeException {
  private static final long serialVersionUID = 1;

  LeftAlone(String why) {
    super(why, null, false, false);
  }
}
