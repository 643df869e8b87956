import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A body that is being written: what is in its file already, and what is still in memory.
final class GrowingBody: Sendable {
  /// How it stands.
  enum End: Sendable {
    case growing
    case complete
    case failed(CacheError)
  }

  struct State: Sendable {
    /// What was appended but is not in the file yet.
    var chunks: [BodyBytes] = []
    /// Bytes in the file: where `chunks` begin.
    var flushed: Int64 = 0
    /// Bytes appended.
    var written: Int64 = 0
    /// Of the blocks in the file.
    var checksums = BlockChecksums()
    var file: BlockReader?
    var end = End.growing
    fileprivate var waiters: [Int: UnsafeContinuation<Void, Never>] = [:]
    fileprivate var nextWaiter = 0

    fileprivate mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
      defer { waiters = [:] }
      return Array(waiters.values)
    }
  }

  /// The announced length, if any.
  let announcedLength: Int64?
  private let state = Mutex(State())

  init(announcedLength: Int64?) { self.announcedLength = announcedLength }

  /// How it stands now.
  var snapshot: State { state.withLock { $0 } }

  var written: Int64 { state.withLock { $0.written } }

  /// Takes bytes.
  ///
  /// - Returns: how many are in memory now.
  func append(_ bytes: BodyBytes) -> Int64 {
    let (buffered, waiters) = state.withLock { state in
      state.chunks.append(bytes)
      // Many small pieces are made one, so that a slice of much costs no more than itself.
      if state.chunks.count >= 256 { state.chunks = [Self.joined(state.chunks)] }
      state.written += Int64(bytes.count)
      return (state.written - state.flushed, state.takeWaiters())
    }
    for waiter in waiters { waiter.resume() }
    return buffered
  }

  /// The bytes in memory in one piece, at most `limit` of them.
  func buffered(upTo limit: Int64) -> BodyBytes {
    let chunks = state.withLock { $0.chunks }
    return Self.slice(chunks, 0..<limit)
  }

  /// The first `length` bytes in memory are in `file` now.
  func didFlush(_ length: Int64, checksums: [UInt64], file: BlockReader) {
    state.withLock { state in
      state.file = file
      state.checksums.values += checksums
      state.flushed += length
      var rest = length
      var kept = state.chunks[...]
      while let first = kept.first, rest > 0 {
        kept.removeFirst()
        if Int64(first.count) > rest { kept.insert(first.dropFirst(Int(rest)), at: kept.startIndex) }
        rest -= min(rest, Int64(first.count))
      }
      state.chunks = Array(kept)
    }
  }

  /// No more will come.
  func finish(_ end: End) {
    let waiters = state.withLock { state in
      if case .growing = state.end { state.end = end }
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Suspends until there are more than `length` bytes, the end is known, or the task is cancelled.
  func waitForMore(than length: Int64) async {
    let id = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let mustWait = state.withLock { state in
          guard case .growing = state.end, state.written <= length, !Task.isCancelled else {
            return false
          }
          state.waiters[id] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }

  /// The bytes at `range` of what `chunks` hold one after the other, in one piece.
  static func slice(_ chunks: [BodyBytes], _ range: Range<Int64>) -> BodyBytes {
    var parts: [BodyBytes] = []
    var start: Int64 = 0
    for chunk in chunks {
      let end = start + Int64(chunk.count)
      let lower = max(range.lowerBound, start)
      let upper = min(range.upperBound, end)
      if lower < upper { parts.append(chunk[Int(lower - start)..<Int(upper - start)]) }
      start = end
      if start >= range.upperBound { break }
    }
    return joined(parts)
  }

  static func joined(_ parts: [BodyBytes]) -> BodyBytes {
    if let first = parts.first, parts.count == 1 { return first }
    let count = parts.reduce(0) { $0 + $1.count }
    guard count > 0 else { return BodyBytes() }
    return BodyBytes(unsafeUninitializedCapacity: count) { buffer in
      var offset = 0
      for part in parts {
        part.withUnsafeBytes { source in
          UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: source)
        }
        offset += part.count
      }
      return count
    }
  }
}
