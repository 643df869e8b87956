/// The octets of a representation that an incomplete response has (RFC 9111 §3.3).
public struct StoredPart: Sendable, Hashable {
  /// The stored octets, in order, without overlap.
  public let ranges: [Range<Int64>]
  /// The length of the whole representation in bytes; nil while it is unknown.
  public let length: Int64?

  /// Makes a part.
  public init(ranges: [Range<Int64>], length: Int64?) {
    self.ranges = ranges
    self.length = length
  }

  /// Whether all of `range` is stored.
  public func contains(_ range: Range<Int64>) -> Bool {
    ranges.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
  }

  /// The shortest range that contains all missing octets of `range`; nil if none are missing.
  public func missing(in range: Range<Int64>) -> Range<Int64>? {
    var lower = range.lowerBound
    for stored in ranges where stored.contains(lower) { lower = stored.upperBound }
    var upper = range.upperBound
    for stored in ranges.reversed()
    where stored.lowerBound < upper && upper <= stored.upperBound { upper = stored.lowerBound }
    return lower < upper ? lower..<upper : nil
  }

  /// The end of the stored octets from the first octet to the first gap.
  public var prefix: Int64 {
    ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0
  }
}
