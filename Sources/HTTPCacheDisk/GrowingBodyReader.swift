import HTTPCacheStore

/// Reads a body while it is being written, and waits where it is ahead of the writer.
final class GrowingBodyReader: BodyReader {
  private let body: GrowingBody
  private let queue: WorkQueue

  init(body: GrowingBody, queue: WorkQueue) {
    self.body = body
    self.queue = queue
  }

  var length: Int64? {
    let state = body.snapshot
    if case .complete = state.end { return state.written }
    return body.announcedLength
  }

  var availableRanges: [Range<Int64>] {
    let written = body.written
    return written > 0 ? [0..<written] : []
  }

  var bytesInMemory: BodyBytes? {
    let state = body.snapshot
    guard case .complete = state.end, state.flushed == 0 else { return nil }
    return GrowingBody.joined(state.chunks)
  }

  var fileRegion: FileRegion? {
    let state = body.snapshot
    guard case .complete = state.end, let file = state.file, state.flushed == state.written else {
      return nil
    }
    return FileRegion(
      descriptor: file.file.descriptor, offset: 0, count: state.written,
      isVerified: file.isVerified(blocks: state.checksums.values.count))
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard range.lowerBound >= 0, !range.isEmpty else { return BodyBytes() }
    var parts: [BodyBytes] = []
    var position = range.lowerBound
    while position < range.upperBound {
      let state = body.snapshot
      if position < state.flushed, let file = state.file {
        let span = position..<min(range.upperBound, state.flushed)
        let bytes = try await read(span, from: file, state)
        parts.append(bytes)
        position += Int64(bytes.count)
      } else if position < state.written {
        let bytes = GrowingBody.slice(
          state.chunks, position - state.flushed..<range.upperBound - state.flushed)
        parts.append(bytes)
        position += Int64(bytes.count)
      } else if !parts.isEmpty {
        break
      } else {
        switch state.end {
        case .complete: return BodyBytes()
        case .failed(let error): throw error
        case .growing: break
        }
        if Task.isCancelled { throw CacheError(.closed, "the task that reads was cancelled") }
        await body.waitForMore(than: position)
      }
    }
    return GrowingBody.joined(parts)
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
    while true {
      let state = body.snapshot
      switch state.end {
      case .growing:
        if Task.isCancelled { throw CacheError(.closed, "the task that reads was cancelled") }
        await body.waitForMore(than: state.written)
      case .failed(let error): throw error
      case .complete:
        try await queue.run { () throws(CacheError) in
          try FileCopy.make(path) { (file) throws(CacheError) in
            if let source = state.file {
              try source.checkAll(length: state.flushed, checksums: state.checksums)
              try FileCopy.copy(source.file, to: file, length: state.flushed)
            }
            let rest = GrowingBody.joined(state.chunks)
            try rest.withUnsafeBytes { (buffer) throws(CacheError) in
              try file.write(buffer, at: state.flushed)
            }
          }
        }
        return
      }
    }
  }
}
