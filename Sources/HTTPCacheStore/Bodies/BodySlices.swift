import HTTPCacheSemantics

/// The layout of a body that may be stored in part: the stored ranges follow one another.
struct BodySlices: Sendable {
  /// The stored ranges of the whole body, ascending and apart; nil for all of it.
  let ranges: [Range<Int64>]?

  /// The ranges that the first `count` stored bytes fill.
  func available(count: Int64) -> [Range<Int64>] {
    StoredRanges.prefix(ranges ?? [0..<count], count: count)
  }

  /// The place of the beginning of `range` among `count` stored bytes, up to the first gap.
  func place(of range: Range<Int64>, count: Int64) -> Range<Int> {
    guard let ranges else {
      let clamped = range.clamped(to: 0..<count)
      return Int(clamped.lowerBound)..<Int(clamped.upperBound)
    }
    var start: Int64 = 0
    for stored in ranges {
      if stored.contains(range.lowerBound) {
        let lower = start + range.lowerBound - stored.lowerBound
        let length = min(range.upperBound, stored.upperBound) - range.lowerBound
        let clamped = (lower..<lower + length).clamped(to: 0..<count)
        return Int(clamped.lowerBound)..<Int(clamped.upperBound)
      }
      start += Int64(stored.count)
    }
    return 0..<0
  }
}
