/// Something that a `StoreWorkload` does with a store.
public enum WorkloadStep: Sendable, Hashable {
  /// Stores a version.
  case store(SampleVersion, announcesLength: Bool)
  /// Stores the beginning of a version and gives it up.
  case abandon(SampleVersion, after: Int)
  /// Stores the beginning of a version as a part.
  case keep(SampleVersion, count: Int)
  /// Adds to the part of a version, to its end if it is `count` bytes long.
  case extend(SampleVersion, from: Int, count: Int)
  /// Freshens what is stored for a key.
  case freshen(Int)
  /// Marks what is stored for a key as invalidated.
  case invalidate(Int)
  /// Marks everything of the partition that some keys are in.
  case invalidatePartition
  /// Removes what is stored for a key.
  case remove(Int)
  /// Reads what is stored for a key.
  case read(Int)
  /// Sets the clock, in seconds from the start; it may go back.
  case jump(Int64)
  /// Writes what is batched.
  case flush
}

/// How a step of a workload went.
public enum WorkloadOutcome: Sendable, Hashable {
  /// It has begun.
  case begun
  /// The store said that it was done.
  case done
  /// The store threw an error, or said that nothing was there.
  case failed
}
