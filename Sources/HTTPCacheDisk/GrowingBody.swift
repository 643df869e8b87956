import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A body that is being written: what is in its file already, and what is still in memory.
final class GrowingBody: Sendable {
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
    var isComplete = false
  }

  private let state = Mutex(State())

  /// How it stands now.
  var snapshot: State { state.withLock { $0 } }

  var written: Int64 { state.withLock { $0.written } }

  /// Takes bytes.
  ///
  /// - Returns: how many are in memory now.
  func append(_ bytes: BodyBytes) -> Int64 {
    state.withLock { state in
      state.chunks.append(bytes)
      // Many small pieces are made one, so that a slice of much costs no more than itself.
      if state.chunks.count >= 256 { state.chunks = [BodyBytes(joining: state.chunks)] }
      state.written += Int64(bytes.count)
      return state.written - state.flushed
    }
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

  /// All of it was appended and is stored.
  func complete() { state.withLock { $0.isComplete = true } }

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
    return BodyBytes(joining: parts)
  }
}
