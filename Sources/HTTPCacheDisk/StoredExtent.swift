/// Which bytes of a body a file or blob holds: all of them, or some ranges one after the other.
struct StoredExtent: Sendable {
  /// The length of the whole body; nil if it is not known.
  let bodyLength: Int64?
  /// The ranges that are there, in order.
  let ranges: [Range<Int64>]
  /// The bytes that are there.
  let storedLength: Int64

  init(bodyLength: Int64?, storedRanges: [Range<Int64>]?, storedLength: Int64) {
    self.storedLength = storedLength
    self.bodyLength = storedRanges == nil ? storedLength : bodyLength
    ranges = storedRanges ?? [0..<storedLength]
  }

  /// Whether it holds what it says.
  var isConsistent: Bool { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } == storedLength }

  /// Where the bytes of the body from `range.lowerBound` on lie, as far as they are there without a
  /// gap; nil if none is.
  func place(of range: Range<Int64>) -> Range<Int64>? {
    var offset: Int64 = 0
    for stored in ranges {
      if stored.contains(range.lowerBound) {
        let end = min(range.upperBound, stored.upperBound)
        guard end > range.lowerBound else { return nil }
        let start = offset + range.lowerBound - stored.lowerBound
        return start..<start + (end - range.lowerBound)
      }
      offset += stored.upperBound - stored.lowerBound
    }
    return nil
  }
}
