package dev.gloom;

import org.jspecify.annotations.Nullable;

/// A case of a {@link Gloom#select}: an operation, and the branch to run if it is the one that
/// happens. Made by {@link Gloom#recv}, {@link Gloom#send}, {@link Gloom#after} and {@link
/// Gloom#otherwise}; may be kept and used again.
public sealed interface Case<R extends @Nullable Object> permits RecvCase, BranchCase {}
