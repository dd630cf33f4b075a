package dev.gloom.cli;

/// The user asked for something that cannot be done; the message is one sentence that says what to
/// do.
final class UsageException extends Exception {
  private static final long serialVersionUID = 1;

  UsageException(String message) {
    super(message);
  }
}
