import HTTPCacheSemantics

/// Reads a body in memory while its bytes arrive: a whole body, parts of one, or the bytes that were missing after
/// a stored part. Bytes that were stored before are kept when they arrive again.
final class ArrivingBody: BodyReader {
  private let arrived: GrowingBody
  // The ranges that the arriving bytes fill, one after the other; nil for a whole body.
  private let targets: [Range<Int64>]?
  private let announced: Int64?
  private let stored: MemoryBody?

  /// - Parameters:
  ///   - arrived: the bytes that arrive.
  ///   - targets: the ranges that they fill, one after the other; nil for a whole body.
  ///   - length: the length of the whole body, if known.
  ///   - stored: the part that was stored before.
  init(
    _ arrived: GrowingBody, targets: [Range<Int64>]?, length: Int64?, over stored: MemoryBody? = nil
  ) {
    self.arrived = arrived
    self.targets = targets
    announced = length
    self.stored = stored
  }

  var length: Int64? { arrived.isComplete && targets == nil ? arrived.count : announced }

  var availableRanges: [Range<Int64>] { ranges(having: arrived.count) }

  var bytesInMemory: BodyBytes? {
    guard targets == nil, arrived.isComplete else { return nil }
    return arrived.read(0..<Int(clamping: arrived.count))
  }

  /// The ranges that can be read after `count` bytes have arrived.
  func ranges(having count: Int64) -> [Range<Int64>] {
    let arrived = StoredRanges.prefix(targets ?? [0..<count], count: count)
    guard let stored else { return arrived }
    return StoredRanges.union(stored.availableRanges + arrived)
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes { bytes(range) }

  /// All bytes that can be read, joined.
  func joined() -> BodyBytes { BodyBytes(joining: availableRanges.map { bytes($0) }) }

  /// The bytes from the start of `range` to its end or the first gap.
  private func bytes(_ range: Range<Int64>) -> BodyBytes {
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

  // A piece of the stored part, or of the bytes that arrived before the stored part begins again.
  private func piece(_ range: Range<Int64>) -> BodyBytes {
    if let bytes = stored?.bytes(range), !bytes.isEmpty { return bytes }
    let next = stored?.availableRanges.first { $0.lowerBound > range.lowerBound }?.lowerBound ?? .max
    let wanted = range.lowerBound..<min(range.upperBound, next)
    let count = arrived.count
    let place = StoredRanges.place(of: wanted, in: targets ?? [0..<count], count: count)
    return arrived.read(place) ?? BodyBytes()
  }
}
