package dev.gloom.runtime;

/// A real sign that is up, and the request of another P.
class StopSignModel {
  final StopSign sign = new StopSign();
  volatile boolean asked;

  StopSignModel() {
    sign.raise();
  }

  String outcome() {
    return sign.isRaised() ? "raised" : "LOST";
  }
}
