public import HTTPCacheStore

/// What a check of `StoreConformance` needs of the store it is given.
public struct StoreRequirements: Sendable {
  /// Bytes the store may hold.
  public var capacity: Int64
  /// The longest body.
  public var largestEntry: LargestEntry
  /// The clock the store has to use.
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
