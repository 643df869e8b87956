import HTTPCacheStore

/// Reads a body while a part of it is being written, the other parts included.
final class GrowingPartsReader: BodyReader {
  private let body: GrowingParts
  let length: Int64?
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  init(
    body: GrowingParts, length: Int64?, queue: WorkQueue,
    onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.body = body
    self.length = length
    self.queue = queue
    self.onDamage = onDamage
  }

  var availableRanges: [Range<Int64>] { body.snapshot.ranges }

  var bytesInMemory: BodyBytes? { nil }

  var fileRegion: FileRegion? { nil }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    var parts: [BodyBytes] = []
    var position = range.lowerBound
    do throws(CacheError) {
      while position < range.upperBound {
        let state = body.snapshot
        let rest = position..<range.upperBound
        var bytes = state.pendingBytes(rest)
        if bytes.isEmpty, let file = state.file {
          bytes = try await file.read(rest, state.pieces, on: queue)
        }
        guard !bytes.isEmpty else { break }
        parts.append(bytes)
        position += Int64(bytes.count)
      }
    } catch {
      if error.code == .damaged { onDamage(error) }
      throw error
    }
    return BodyBytes(joining: parts)
  }

  func clone(to path: String) async throws(CacheError) {
    let state = body.snapshot
    guard let length, state.pieces.ranges == [0..<length], let source = state.file else {
      throw CacheError(.unavailable, "the body is not complete, so it cannot be cloned")
    }
    try await queue.run { () throws(CacheError) in
      try source.checkAll(state.pieces)
      try FileCopy.make(path) { (file) throws(CacheError) in
        try FileCopy.copy(source.file, to: file, length: length)
      }
    }
  }
}
