import HTTPCacheSemantics

/// Arithmetic with the stored ranges of a body: ascending, apart, never empty.
package enum StoredRanges {
  /// The maximum number of ranges of one response; a further range is refused.
  package static let most = 64

  /// The union of any ranges.
  package static func union(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
    var merged: [Range<Int64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] =
          last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  /// Whether ranges ascend, are apart, and lie within a body of this length.
  package static func areParts(_ ranges: [Range<Int64>], of length: Int64?) -> Bool {
    var end: Int64 = 0
    for range in ranges {
      guard range.lowerBound >= end, range.upperBound <= length ?? .max else { return false }
      end = range.upperBound
    }
    return true
  }

  /// The number of bytes in the ranges.
  package static func count(_ ranges: [Range<Int64>]) -> Int64 {
    ranges.reduce(0) { $0.saturatingAdd($1.upperBound - $1.lowerBound) }
  }

  /// The ranges that the first `count` bytes of consecutive `ranges` fill.
  package static func prefix(_ ranges: [Range<Int64>], count: Int64) -> [Range<Int64>] {
    var rest = count
    return ranges.compactMap { range in
      let length = min(rest, range.upperBound - range.lowerBound)
      rest -= length
      return length > 0 ? range.lowerBound..<range.lowerBound + length : nil
    }
  }

  /// The place of the beginning of `range` among the first `count` bytes of consecutive `ranges`, up to the first gap.
  static func place(of range: Range<Int64>, in ranges: [Range<Int64>], count: Int64) -> Range<Int> {
    var start: Int64 = 0
    for stored in ranges {
      if stored.contains(range.lowerBound) {
        let lower = start + range.lowerBound - stored.lowerBound
        let length = min(range.upperBound, stored.upperBound) - range.lowerBound
        let clamped = (lower..<lower + length).clamped(to: 0..<count)
        return Int(clamped.lowerBound)..<Int(clamped.upperBound)
      }
      start += stored.upperBound - stored.lowerBound
    }
    return 0..<0
  }

  /// Whether one more part, from `offset` on, would make too many ranges.
  package static func isFull(_ ranges: [Range<Int64>], at offset: Int64) -> Bool {
    ranges.count >= most
      && !ranges.contains { $0.contains(offset) || $0.upperBound == offset }
  }
}

extension CacheRecord {
  /// Whether it replaces another record of its key: their nominated fields are equal, and it is not a part of a
  /// response while the other is complete.
  public func replaces(_ other: CacheRecord) -> Bool {
    response.nominated == other.response.nominated && (isComplete || !other.isComplete)
  }

  /// The length of the whole body if the bytes of this response are added to a stored part; nil if it is unknown.
  ///
  /// - Parameter stored: the record of the stored part.
  /// - Throws: `CacheError.unavailable` if the stored part is not a part of a body of the announced length.
  package func length(over stored: CacheRecord) throws(CacheError) -> Int64? {
    guard let announced = bodyLength else { return stored.bodyLength }
    let end = stored.storedRanges?.last?.upperBound ?? 0
    guard announced == stored.bodyLength ?? announced, announced >= end else {
      throw CacheError(.unavailable, "what is stored is not of a body of \(announced) bytes", key: key)
    }
    return announced
  }

  /// Requires that the stored ranges ascend, are apart, and lie within the body.
  ///
  /// - Throws: `CacheError.damaged` otherwise.
  package func requireParts() throws(CacheError) {
    guard StoredRanges.areParts(storedRanges ?? [], of: bodyLength) else {
      throw CacheError(.damaged, "these are no parts of the body", key: key)
    }
  }

  /// A copy with these stored ranges; complete if they are the whole body.
  ///
  /// - Parameter ranges: ascending and apart.
  package func holding(_ ranges: [Range<Int64>], bodyLength: Int64?) -> CacheRecord {
    if let bodyLength, ranges == [0..<bodyLength] { return storing(nil, bodyLength: bodyLength) }
    return storing(ranges, bodyLength: bodyLength)
  }
}
