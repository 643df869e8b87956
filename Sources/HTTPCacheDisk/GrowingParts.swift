import HTTPCacheStore
import Synchronization

/// A body of which parts are stored while a further one is being written: what is in its file already,
/// and what is still in memory. Bytes that are stored already are passed over.
final class GrowingParts: Sendable {
  /// Appended bytes that are not in the file yet.
  struct Pending: Sendable {
    let start: Int64
    let bytes: BodyBytes

    var end: Int64 { start + Int64(bytes.count) }
  }

  struct State: Sendable {
    /// What is in the file.
    var pieces: StoredPieces
    /// Those of them that were written since, in the order of writing.
    var flushed: [StoredPiece] = []
    var pending: [Pending] = []
    /// Where the bytes go that are appended next.
    var targets: ArraySlice<Range<Int64>>
    /// Bytes appended.
    var written: Int64 = 0
    /// Bytes of `flushed`.
    var flushedBytes: Int64 = 0
    /// Bytes in the file and in memory.
    var count: Int64
    var file: PieceReader?
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - pieces: what is stored already, in `file`.
  ///   - targets: where the appended bytes go, one range after the other.
  init(pieces: StoredPieces = StoredPieces(), file: PieceReader? = nil, targets: [Range<Int64>]) {
    state = Mutex(
      State(
        pieces: pieces, targets: targets[...], count: StoredRanges.count(pieces.ranges), file: file))
  }

  /// How it stands now.
  var snapshot: State { state.withLock { $0 } }

  /// Takes bytes.
  ///
  /// - Parameter limit: the most bytes there may be then; if there would be more, none are taken.
  /// - Returns: how many are in memory now.
  /// - Throws: `CacheError.damaged` for more bytes than there is room for, `CacheError.tooLarge`.
  func append(_ bytes: BodyBytes, limit: Int64) throws(CacheError) -> Int64 {
    let result: Result<Int64, CacheError> = state.withLock { state in
      guard StoredRanges.count(Array(state.targets)) >= Int64(bytes.count) else {
        return .failure(CacheError(.damaged, "more bytes came than were announced"))
      }
      var next = state
      next.append(bytes)
      guard next.count <= limit else {
        return .failure(CacheError(.tooLarge, "more than \(limit) bytes"))
      }
      state = next
      return .success(next.buffered)
    }
    return try result.get()
  }

  /// The bytes that are to be written as the next piece; nil while it still grows.
  ///
  /// - Parameter all: takes it as it is.
  func nextPiece(all: Bool) -> Pending? { snapshot.nextPiece(all: all) }

  /// What `nextPiece` told is in the file now.
  func didFlush(_ piece: StoredPiece, file: PieceReader) {
    state.withLock { state in
      state.file = file
      state.pieces.insert(piece)
      state.flushed.append(piece)
      state.flushedBytes += piece.end - piece.start
      while let first = state.pending.first, first.start < piece.end {
        state.pending.removeFirst()
        guard first.end > piece.end else { continue }
        let rest = first.bytes.dropFirst(Int(piece.end - first.start))
        state.pending.insert(Pending(start: piece.end, bytes: rest), at: 0)
      }
    }
  }
}

extension GrowingParts.State {
  /// Bytes in memory.
  var buffered: Int64 { pending.reduce(0) { $0 + Int64($1.bytes.count) } }

  /// Bytes that came and were not stored before.
  var added: Int64 { flushedBytes + buffered }

  /// The ranges that can be read.
  var ranges: [Range<Int64>] {
    StoredRanges.union(pieces.ranges + pending.map { $0.start..<$0.end })
  }

  /// The bytes in memory from a place on, up to another one, as far as they go.
  func pendingBytes(_ range: Range<Int64>) -> BodyBytes {
    guard let found = pending.first(where: { $0.start <= range.lowerBound && range.lowerBound < $0.end })
    else { return BodyBytes() }
    let lower = Int(range.lowerBound - found.start)
    return found.bytes[lower..<lower + range.count]
  }

  fileprivate mutating func append(_ bytes: BodyBytes) {
    var rest = bytes
    while !rest.isEmpty, let target = targets.first {
      let position = target.lowerBound
      var length = min(Int64(rest.count), target.upperBound - position)
      var isStored = false
      if let piece = pieces.piece(atOrAfter: position) {
        isStored = piece.start <= position
        length = min(length, (isStored ? piece.end : piece.start) - position)
      }
      if !isStored {
        pending.append(GrowingParts.Pending(start: position, bytes: rest.prefix(Int(length))))
        count += length
      }
      rest = rest.dropFirst(Int(length))
      targets[targets.startIndex] = position + length..<target.upperBound
      if position + length == target.upperBound { targets.removeFirst() }
    }
    written += Int64(bytes.count)
    // Many small pieces are made one, so that a slice of much costs no more than itself.
    if pending.count >= 256 { join() }
  }

  private mutating func join() {
    var joined: [GrowingParts.Pending] = []
    var parts: [BodyBytes] = []
    var start: Int64 = 0
    var end: Int64 = 0
    for next in pending {
      if next.start != end || parts.isEmpty {
        if !parts.isEmpty {
          joined.append(GrowingParts.Pending(start: start, bytes: BodyBytes(joining: parts)))
        }
        parts = []
        start = next.start
      }
      parts.append(next.bytes)
      end = next.end
    }
    joined.append(GrowingParts.Pending(start: start, bytes: BodyBytes(joining: parts)))
    pending = joined
  }

  fileprivate func nextPiece(all: Bool) -> GrowingParts.Pending? {
    guard let first = pending.first else { return nil }
    let blockEnd = (first.start / BlockChecksums.blockLength + 1) * BlockChecksums.blockLength
    var parts: [BodyBytes] = []
    var end = first.start
    for next in pending {
      guard next.start == end, end < blockEnd else { break }
      parts.append(next.bytes.prefix(Int(min(next.end, blockEnd) - next.start)))
      end = min(next.end, blockEnd)
    }
    // It grows as long as the next byte that comes may go right behind it.
    guard all || end == blockEnd || targets.first?.lowerBound != end else { return nil }
    return GrowingParts.Pending(start: first.start, bytes: BodyBytes(joining: parts))
  }
}
