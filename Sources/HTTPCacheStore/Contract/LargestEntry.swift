/// The longest body that is stored.
public enum LargestEntry: Sendable, Hashable, ExpressibleByIntegerLiteral {
  /// Half the capacity of a store on disk, and an eighth of the capacity of a memory tier.
  case `default`
  /// A number of bytes.
  case bytes(Int64)
  /// A share of the capacity on disk or in memory, from 0 to 1.
  case share(Double)

  /// Makes a limit in bytes.
  public init(integerLiteral bytes: Int64) { self = .bytes(bytes) }

  /// The longest body in bytes under a capacity in bytes; never more than the capacity. `.default` is half the
  /// capacity here, as for a store on disk.
  public func bytes(of capacity: Int64) -> Int64 {
    let capacity = max(0, capacity)
    switch self {
    case .default: return capacity / 2
    case .bytes(let bytes): return max(0, min(bytes, capacity))
    case .share(let share):
      let share = share.isNaN ? 0 : max(0, min(1, share))
      return share == 1 ? capacity : min(capacity, Int64(Double(capacity) * share))
    }
  }

  /// The limit of a memory tier: one body should not displace half of the memory.
  package var inMemory: LargestEntry { self == .default ? .share(0.125) : self }
}
