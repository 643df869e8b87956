import HTTPCacheStore

/// Reads a body while it is being written: the flushed bytes from its file, and the rest from memory.
final class GrowingBodyReader: BodyReader {
  private let body: GrowingBody
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  init(body: GrowingBody, queue: WorkQueue, onDamage: @escaping @Sendable (CacheError) -> Void) {
    self.body = body
    self.queue = queue
    self.onDamage = onDamage
  }

  var length: Int64? { body.snapshot.length }

  var availableRanges: [Range<Int64>] { body.snapshot.ranges }

  var bytesInMemory: BodyBytes? {
    let state = body.snapshot
    guard state.isComplete, state.file == nil else { return nil }
    return state.pendingBytes(0..<state.count)
  }

  var fileRegion: FileRegion? {
    let state = body.snapshot
    guard state.isComplete, let file = state.file else { return nil }
    return FileRegion(
      descriptor: file.file.descriptor, offset: 0, count: state.count,
      isVerified: file.isVerified(0..<state.count))
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    var slices: [BodyBytes] = []
    var position = range.lowerBound
    do throws(CacheError) {
      while position < range.upperBound {
        let state = body.snapshot
        var bytes = state.pendingBytes(position..<range.upperBound)
        if bytes.isEmpty, let file = state.file,
          let last = state.pieces.run(from: position..<range.upperBound).last
        {
          let stored = position..<min(range.upperBound, last.end)
          bytes = try await file.read(stored, { state.pieces }, on: queue)
        }
        guard !bytes.isEmpty else { break }
        slices.append(bytes)
        position += Int64(bytes.count)
      }
    } catch {
      if error.code == .damaged { onDamage(error) }
      throw error
    }
    return BodyBytes(joining: slices)
  }

  func clone(to path: String) async throws(CacheError) {
    let state = body.snapshot
    guard state.isComplete else {
      throw CacheError(.unavailable, "the body is not complete, so it cannot be cloned")
    }
    try await queue.run { () throws(CacheError) in
      try state.file?.checkAll { state.pieces }
      try FileCopy.make(path) { (file) throws(CacheError) in
        guard let source = state.file else {
          let bytes = state.pendingBytes(0..<state.count)
          return try bytes.withUnsafeBytes { (buffer) throws(CacheError) in try file.write(buffer, at: 0) }
        }
        try FileCopy.copy(source.file, to: file, length: state.count)
      }
    }
  }
}
