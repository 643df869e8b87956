public import HTTPCacheStore

/// The properties that a check of `StoreConformance` needs from its store.
public struct StoreRequirements: Sendable {
  /// Capacity of the store in bytes.
  public var capacity: Int64
  /// The longest body.
  public var largestEntry: LargestEntry
  /// The clock that the store must use.
  public var clock: ManualClock

  /// Makes requirements.
  public init(
    capacity: Int64 = 32 << 20, largestEntry: LargestEntry = .default,
    clock: ManualClock = ManualClock(now: StoreSample.start)
  ) {
    self.capacity = capacity
    self.largestEntry = largestEntry
    self.clock = clock
  }
}
