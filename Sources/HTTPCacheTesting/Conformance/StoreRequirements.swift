/// What a check of `StoreConformance` needs of the store it is given.
public struct StoreRequirements: Sendable {
  /// Bytes the store may hold.
  public var capacity: Int64
  /// The longest body in bytes; nil is the store's default, which must be an eighth of `capacity` at
  /// least.
  public var largestEntry: Int64?
  /// The clock the store has to use.
  public var clock: ManualClock

  /// Makes requirements.
  public init(
    capacity: Int64 = 32 << 20, largestEntry: Int64? = nil,
    clock: ManualClock = ManualClock(now: StoreSample.start)
  ) {
    self.capacity = capacity
    self.largestEntry = largestEntry
    self.clock = clock
  }
}
