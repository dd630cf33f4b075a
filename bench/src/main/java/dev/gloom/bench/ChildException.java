package dev.gloom.bench;

/// A peer that could not be measured, though nothing it needs is missing: the message says why.
final class ChildException extends Exception {
  private static final long serialVersionUID = 1;

  ChildException(String message) {
    super(message);
  }
}
