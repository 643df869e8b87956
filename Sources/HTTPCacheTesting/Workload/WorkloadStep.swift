/// One step of a `StoreWorkload`.
public enum WorkloadStep: Sendable, Hashable {
  /// Stores a version.
  case store(SampleVersion, announcesLength: Bool)
  /// Stores the beginning of a version and abandons it.
  case abandon(SampleVersion, after: Int)
  /// Stores the beginning of a version as a part.
  case keep(SampleVersion, count: Int)
  /// Adds at most `count` bytes of the version to its part, at offset `from`.
  case extend(SampleVersion, from: Int, count: Int)
  /// Freshens the entry of a key.
  case freshen(Int)
  /// Invalidates the entry of a key.
  case invalidate(Int)
  /// Invalidates all entries of the partition that some keys are in.
  case invalidatePartition
  /// Removes the entry of a key.
  case remove(Int)
  /// Reads the entry of a key.
  case read(Int)
  /// Sets the clock, in seconds from the start; it may go back.
  case jump(Int64)
  /// Writes batched changes.
  case flush
}

/// The result of a step of a workload.
public enum WorkloadOutcome: Sendable, Hashable {
  /// It has begun.
  case begun
  /// The store reported that it was done.
  case done
  /// The store threw an error, or reported that there was no entry.
  case failed
}
