import HTTPCacheSemantics

/// A part of a body in memory, and the bytes that are being added. Bytes that were stored before are kept when
/// they arrive again.
final class ExtendedBody: Sendable {
  private let base: MemoryBody
  private let growing: GrowingBody
  /// The position of the first appended byte in the body.
  private let offset: Int64
  /// The length of the whole body; nil while it is unknown.
  let length: Int64?

  init(_ base: MemoryBody, at offset: Int64, length: Int64?, reservation: MemoryReservation) {
    self.base = base
    growing = GrowingBody(announced: nil, reservation: reservation)
    self.offset = offset
    self.length = length
  }

  /// The number of appended bytes.
  var appended: Int64 { growing.count }

  /// The position of the next appended byte.
  var end: Int64 { offset.saturatingAdd(growing.count) }

  /// The ranges that can be read.
  var ranges: [Range<Int64>] { StoredRanges.union(base.availableRanges + [offset..<end]) }

  /// The number of bytes after `count` more have been appended.
  func stored(after count: Int64) -> Int64 {
    StoredRanges.count(
      StoredRanges.union(base.availableRanges + [offset..<end.saturatingAdd(count)]))
  }

  func append(_ bytes: BodyBytes) { growing.append(bytes) }

  /// No more bytes will be appended.
  func finish() { _ = growing.finish() }

  /// Releases the appended bytes.
  func drop() { growing.drop() }

  /// The bytes from the start of `range` to its end or the first gap.
  func read(_ range: Range<Int64>) -> BodyBytes {
    var pieces: [BodyBytes] = []
    var position = range.lowerBound
    while position < range.upperBound {
      let piece = piece(position..<range.upperBound)
      guard !piece.isEmpty else { break }
      pieces.append(piece)
      position += Int64(piece.count)
    }
    return BodyBytes(joining: pieces)
  }

  /// The bytes in some ranges that can be read, joined.
  func joined(_ ranges: [Range<Int64>]) -> BodyBytes { BodyBytes(joining: ranges.map { read($0) }) }

  // A piece from one of the two; appended bytes only up to where the stored part begins again.
  private func piece(_ range: Range<Int64>) -> BodyBytes {
    let stored = base.bytes(range)
    guard stored.isEmpty, range.lowerBound >= offset, range.lowerBound < end else { return stored }
    let next = base.availableRanges.first { $0.lowerBound > range.lowerBound }?.lowerBound
    let upper = min(range.upperBound, next ?? .max, end)
    return growing.read(Int(range.lowerBound - offset)..<Int(upper - offset)) ?? BodyBytes()
  }
}

/// Reads a body in memory while bytes are added to it.
final class ExtendedReader: BodyReader {
  private let body: ExtendedBody

  init(_ body: ExtendedBody) { self.body = body }

  var length: Int64? { body.length }

  var availableRanges: [Range<Int64>] { body.ranges }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes { body.read(range) }
}
