import HTTPCacheLibC
import HTTPCacheSemantics
public import HTTPCacheStore

/// The result of reading a whole store after a workload.
public struct WorkloadAudit: Sendable, Hashable {
  /// The number of whole bodies that are right.
  public var whole = 0
  /// The number of parts that are right.
  public var parts = 0
  /// The number of bytes compared.
  public var bytes: Int64 = 0
  /// The number of bodies that the store reported as damaged or could not read.
  public var unreadable = 0
  /// The number of keys with less than was stored.
  public var missing = 0

  /// Makes an empty result.
  public init() {}

  /// Adds another result.
  public static func += (sum: inout WorkloadAudit, other: WorkloadAudit) {
    sum.whole += other.whole
    sum.parts += other.parts
    sum.bytes += other.bytes
    sum.unreadable += other.unreadable
    sum.missing += other.missing
  }

  /// Reads everything that is stored for some keys.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - keys: the numbers of the keys.
  ///   - ledger: the allowed states; nil only compares bodies.
  ///   - isComplete: whether all entries of the ledger must be there.
  /// - Throws: `StoreViolation` for a wrong body, a version that must not be there, or a missing version that
  ///   must be there; `CacheError` if the store cannot be read at all.
  public static func run(
    on store: any CacheStore, keys: Range<Int>, ledger: WorkloadLedger? = nil, isComplete: Bool = false
  ) async throws -> WorkloadAudit {
    var audit = WorkloadAudit()
    for key in keys {
      var found = WorkloadLedger.State.absent
      var isReadable = true
      for variant in try store.read(SampleVersion.key(key)) {
        let version = try version(of: variant, key: key)
        do {
          audit.bytes += try await compare(variant, version)
        } catch is CacheError {
          audit.unreadable += 1
          if variant.record.isComplete { isReadable = false }
          continue
        }
        guard variant.record.isComplete else {
          audit.parts += 1
          continue
        }
        audit.whole += 1
        found = .whole(version, isInvalidated: variant.record.response.isInvalidated)
      }
      guard let ledger else { continue }
      let isExpected = ledger.allows(found, for: key)
      if !isExpected, found == .absent { audit.missing += 1 }
      try require(
        isExpected || (found == .absent && !isComplete),
        "key \(key): \(isReadable ? "" : "damaged, ")found \(found), expected \(ledger[key])")
    }
    return audit
  }

  /// Compares one variant with its expected body.
  ///
  /// - Returns: the number of bytes compared.
  /// - Throws: `StoreViolation`; `CacheError` if it cannot be read.
  public static func check(_ variant: StoredVariant, key: Int) async throws -> Int64 {
    try await compare(variant, try version(of: variant, key: key))
  }

  private static func version(
    of variant: StoredVariant, key: Int
  ) throws(StoreViolation) -> SampleVersion {
    guard let version = SampleVersion(variant.record), version.key == key else {
      throw StoreViolation(message: "key \(key) has a record of something else", line: #line)
    }
    try require(
      variant.record.bodyLength ?? Int64(version.length) == Int64(version.length),
      "\(version): a body of \(variant.record.bodyLength ?? 0) bytes")
    try require(
      !variant.record.isComplete || variant.record.bodyLength != nil, "\(version): whole without length")
    return version
  }

  private static func compare(_ variant: StoredVariant, _ version: SampleVersion) async throws -> Int64 {
    let reader = try variant.body.open()
    let expected = version.body
    var count: Int64 = 0
    if variant.record.isComplete {
      try require(
        reader.availableRanges.reduce(0) { $0 + Int64($1.count) } == Int64(version.length),
        "\(version): half a body passes for a whole one")
    }
    for range in reader.availableRanges {
      try require(
        range.lowerBound >= 0 && range.upperBound <= Int64(version.length),
        "\(version): has bytes \(range) of a body of \(version.length)")
      var position = range.lowerBound
      while position < range.upperBound {
        let part = try await reader.read(position..<min(range.upperBound, position + 100_000))
        try require(!part.isEmpty, "\(version): nothing at \(position)")
        let wanted = expected[Int(position)..<Int(position) + part.count]
        try require(isEqual(part, wanted), "\(version): wrong bytes at \(position)")
        position += Int64(part.count)
        count += Int64(part.count)
      }
    }
    return count
  }

  private static func isEqual(_ left: BodyBytes, _ right: BodyBytes) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return memcmp(first, second, left.count) == 0
      }
    }
  }
}
