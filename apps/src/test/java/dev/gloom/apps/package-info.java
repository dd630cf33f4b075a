/// Servers and libraries that people use, as they use them: the programs of this package know
/// nothing of gloom, and the tests run them with its agent and without.
package dev.gloom.apps;
