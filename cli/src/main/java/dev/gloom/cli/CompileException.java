package dev.gloom.cli;

/// The program does not compile. The compiler has printed why, so this carries no message.
final class CompileException extends Exception {
  private static final long serialVersionUID = 1;
}
