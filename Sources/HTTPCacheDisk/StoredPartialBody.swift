import HTTPCacheStore

/// A body of which a part is stored, in a file of its own.
final class StoredPartialBody: StoredBody {
  private let id: Int64
  private let name: BodyName
  private let length: Int64?
  private let ranges: [Range<Int64>]
  private let context: StoredFileBody.Context

  init(
    id: Int64, name: BodyName, length: Int64?, ranges: [Range<Int64>],
    context: StoredFileBody.Context
  ) {
    self.id = id
    self.name = name
    self.length = length
    self.ranges = ranges
    self.context = context
  }

  func open() throws(CacheError) -> any BodyReader {
    try context.opening(id, openChecked)
  }

  private func openChecked() throws(CacheError) -> any BodyReader {
    let id = id
    let pieces = try context.parts.index.read { (connection) throws(CacheError) in
      try StoredPieces.load(connection, entry: id)
    }
    guard !pieces.list.isEmpty else { throw CacheError(.io, "the entry was removed") }
    // There may be more by now than when the record was read, but not less.
    guard pieces.cover(ranges) else { throw CacheError(.damaged, "parts of the body are missing") }
    let (file, state) = try context.file(name, of: id)
    guard state.size >= ranges.last?.upperBound ?? 0 else {
      throw CacheError(.damaged, "body has \(state.size) bytes, too few for what was written")
    }
    let onDamage = context.onDamage
    return PartialBodyReader(
      file: PieceReader(file: file, verification: context.verification), pieces: pieces,
      length: length, ranges: ranges, queue: context.queue, onDamage: { onDamage(id, $0) })
  }
}

/// Reads what is stored of a body.
final class PartialBodyReader: BodyReader {
  private let file: PieceReader
  private let pieces: StoredPieces
  let length: Int64?
  let availableRanges: [Range<Int64>]
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  init(
    file: PieceReader, pieces: StoredPieces, length: Int64?, ranges: [Range<Int64>],
    queue: WorkQueue, onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.file = file
    self.pieces = pieces
    self.length = length
    availableRanges = ranges
    self.queue = queue
    self.onDamage = onDamage
  }

  var bytesInMemory: BodyBytes? { nil }

  var fileRegion: FileRegion? { nil }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard let stored = availableRanges.first(where: { $0.contains(range.lowerBound) }) else {
      return BodyBytes()
    }
    do throws(CacheError) {
      return try await file.read(
        range.lowerBound..<min(range.upperBound, stored.upperBound), pieces, on: queue)
    } catch {
      if error.code == .damaged { onDamage(error) }
      throw error
    }
  }

  func clone(to path: String) async throws(CacheError) {
    throw CacheError(.unavailable, "only a part of the body is stored")
  }
}
