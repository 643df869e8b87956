/// Reads a growing body from its copy in memory, and from the store below once the copy was dropped.
final class TieredReader: BodyReader {
  private let copy: GrowingBody
  private let above: ArrivingBody
  private let below: (any BodyReader)?

  init(_ copy: GrowingBody, record: CacheRecord, below: (any BodyReader)?) {
    self.copy = copy
    self.below = below
    above = ArrivingBody(copy, targets: record.storedRanges, length: record.bodyLength)
  }

  private var current: any BodyReader {
    if copy.isDropped, let below { below } else { above }
  }

  var length: Int64? { current.length }
  var availableRanges: [Range<Int64>] { current.availableRanges }
  var bytesInMemory: BodyBytes? { current.bytesInMemory }
  var fileRegion: FileRegion? { current.fileRegion }
  func isVerified(_ range: Range<Int64>) -> Bool { current.isVerified(range) }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    let bytes = try await above.read(range)
    // The copy may have been dropped during the read, so check after it.
    guard bytes.isEmpty, copy.isDropped else { return bytes }
    guard let below else { throw CacheError(.io, "the growing body is no longer in memory") }
    return try await below.read(range)
  }

  func clone(to path: String) async throws(CacheError) { try await current.clone(to: path) }
}
