import HTTPCacheStore

/// Reads a body while it is being written: from its file what is there, and the rest from memory.
final class GrowingBodyReader: BodyReader {
  private let body: GrowingBody
  private let announcedLength: Int64?
  private let storedRanges: [Range<Int64>]?
  private let queue: WorkQueue

  init(body: GrowingBody, record: CacheRecord, queue: WorkQueue) {
    self.body = body
    announcedLength = record.bodyLength
    storedRanges = record.storedRanges
    self.queue = queue
  }

  var length: Int64? {
    let state = body.snapshot
    return state.isComplete && storedRanges == nil ? state.written : announcedLength
  }

  var availableRanges: [Range<Int64>] {
    var rest = body.written
    guard let storedRanges else { return rest > 0 ? [0..<rest] : [] }
    return storedRanges.compactMap { range in
      let length = min(rest, range.upperBound - range.lowerBound)
      rest -= length
      return length > 0 ? range.lowerBound..<range.lowerBound + length : nil
    }
  }

  var bytesInMemory: BodyBytes? {
    let state = body.snapshot
    guard state.isComplete, state.flushed == 0, storedRanges == nil else { return nil }
    return BodyBytes(joining: state.chunks)
  }

  var fileRegion: FileRegion? {
    let state = body.snapshot
    guard state.isComplete, storedRanges == nil, let file = state.file,
      state.flushed == state.written
    else { return nil }
    return FileRegion(
      descriptor: file.file.descriptor, offset: 0, count: state.written,
      isVerified: file.isVerified(0..<state.written))
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    let written = body.written
    let extent = StoredExtent(
      bodyLength: announcedLength, storedRanges: storedRanges, storedLength: written)
    guard let place = extent.place(of: range)?.clamped(to: 0..<written) else { return BodyBytes() }
    var parts: [BodyBytes] = []
    var position = place.lowerBound
    while position < place.upperBound {
      let state = body.snapshot
      let bytes: BodyBytes
      if position < state.flushed, let file = state.file {
        let span = position..<min(place.upperBound, state.flushed)
        bytes = try await read(span, from: file, state)
      } else {
        bytes = GrowingBody.slice(
          state.chunks, position - state.flushed..<place.upperBound - state.flushed)
      }
      guard !bytes.isEmpty else { break }
      parts.append(bytes)
      position += Int64(bytes.count)
    }
    return BodyBytes(joining: parts)
  }

  private func read(
    _ span: Range<Int64>, from file: BlockReader, _ state: GrowingBody.State
  ) async throws(CacheError) -> BodyBytes {
    let (checksums, length) = (state.checksums, state.flushed)
    if span.count <= 64 << 10,
      let bytes = try file.read(span, length: length, checksums: checksums, onlyCached: true)
    {
      return bytes
    }
    return try await queue.run { () throws(CacheError) in
      try file.read(span, length: length, checksums: checksums, onlyCached: false) ?? BodyBytes()
    }
  }

  func clone(to path: String) async throws(CacheError) {
    let state = body.snapshot
    guard state.isComplete, storedRanges == nil else {
      throw CacheError(.unavailable, "the body is not complete, so it cannot be cloned")
    }
    try await queue.run { () throws(CacheError) in
      try FileCopy.make(path) { (file) throws(CacheError) in
        if let source = state.file {
          try source.checkAll(length: state.flushed, checksums: state.checksums)
          try FileCopy.copy(source.file, to: file, length: state.flushed)
        }
        let rest = BodyBytes(joining: state.chunks)
        try rest.withUnsafeBytes { (buffer) throws(CacheError) in
          try file.write(buffer, at: state.flushed)
        }
      }
    }
  }
}
