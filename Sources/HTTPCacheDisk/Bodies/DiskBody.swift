import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A body, whole or in parts, that is stored or being written: its bytes in the file, and its bytes in memory that
/// are not in the file yet. Appended bytes that are stored already are skipped.
final class DiskBody: Sendable {
  /// Appended bytes that are not in the file yet.
  struct Pending: Sendable {
    let start: Int64
    let bytes: BodyBytes

    var end: Int64 { start + Int64(bytes.count) }
    var range: Range<Int64> { start..<end }
  }

  struct State: Sendable {
    /// The pieces in the file of a body that is being written.
    var pieces = StoredPieces()
    var file: BlockReader?
    /// The bytes in memory.
    var pending: [Pending] = []
    /// The ranges for the bytes appended next, one after the other.
    var targets: [Range<Int64>] = []
    /// The ranges that can be read, in the file and in memory.
    var ranges: [Range<Int64>]
    /// Bytes that can be read.
    var count: Int64
    /// Bytes appended.
    var written: Int64 = 0
    /// Appended bytes that are in memory.
    var buffered: Int64 = 0
    /// Appended bytes that were put into the file, and where the last of them ends.
    var flushed: Int64 = 0
    var flushedEnd: Int64 = 0
    /// The length of the whole body, if it is known.
    var length: Int64?
    var isComplete = false
  }

  private let state: Mutex<State>

  /// A body that is being written.
  ///
  /// - Parameters:
  ///   - stored: the file of a partial body, and its pieces.
  ///   - targets: the ranges for the appended bytes, one after the other.
  ///   - length: the length of the whole body, if it is known.
  init(
    stored: (file: CacheFile, pieces: StoredPieces)? = nil, targets: [Range<Int64>], length: Int64?,
    checksEveryRead: Bool
  ) {
    let pieces = stored?.pieces ?? StoredPieces()
    let ranges = pieces.ranges
    state = Mutex(
      State(
        pieces: pieces, targets: targets, ranges: ranges, count: StoredRanges.count(ranges), length: length))
    if let stored { _ = reader(of: stored.file, checksEveryRead: checksEveryRead) }
  }

  /// A body that is stored.
  ///
  /// - Parameters:
  ///   - ranges: the stored ranges; nil for all of the body.
  ///   - length: the length of the whole body, if it is known.
  init(file: BlockReader, ranges: [Range<Int64>]?, length: Int64?) {
    let stored = ranges ?? [0..<(length ?? 0)]
    state = Mutex(
      State(
        file: file, ranges: stored, count: StoredRanges.count(stored), length: length,
        isComplete: ranges == nil))
  }

  /// The reader of the file; made at the first call.
  func reader(of file: CacheFile, checksEveryRead: Bool) -> BlockReader {
    let new = BlockReader(file: file, checksEveryRead: checksEveryRead) { [weak self] in
      self?.snapshot.pieces ?? StoredPieces()
    }
    return state.withLock { state in
      state.file = state.file ?? new
      return state.file ?? new
    }
  }

  /// The current state.
  var snapshot: State { state.withLock { $0 } }

  /// Appends bytes.
  ///
  /// - Parameter limit: the most bytes that the body may have. If it would have more, no bytes are appended.
  /// - Returns: the number of bytes in memory now.
  /// - Throws: `CacheError.damaged` if the bytes exceed `targets`, `CacheError.tooLarge`.
  func append(_ bytes: BodyBytes, limit: Int64) throws(CacheError) -> Int64 {
    let result: Result<Int64, CacheError> = state.withLock { state in
      guard StoredRanges.count(state.targets) >= Int64(bytes.count) else {
        return .failure(CacheError(.damaged, "more bytes came than were announced"))
      }
      let steps = state.steps(for: Int64(bytes.count))
      let added = StoredRanges.count(steps.filter { !$0.isStored }.map(\.range))
      guard state.count.saturatingAdd(added) <= limit else {
        return .failure(CacheError(.tooLarge, "more than \(limit) bytes"))
      }
      state.append(bytes, steps)
      return .success(state.buffered)
    }
    return try result.get()
  }

  /// The bytes to write as the next piece; nil if the piece may still grow.
  ///
  /// - Parameter all: returns a piece that may still grow, too.
  func nextPiece(all: Bool) -> Pending? { snapshot.nextPiece(all: all) }

  /// Notes that the bytes of `nextPiece` are in the file.
  ///
  /// - Parameter piece: the new piece, joined with the pieces that it touches in its block.
  func didFlush(_ next: Pending, as piece: StoredPiece) {
    state.withLock { state in
      state.pieces.insert(piece)
      state.flushed += Int64(next.bytes.count)
      state.flushedEnd = next.end
      state.buffered -= Int64(next.bytes.count)
      while let first = state.pending.first, first.start < next.end {
        state.pending.removeFirst()
        guard first.end > next.end else { continue }
        let rest = first.bytes.dropFirst(Int(next.end - first.start))
        state.pending.insert(Pending(start: next.end, bytes: rest), at: 0)
      }
    }
  }

  /// Notes that the whole body is stored.
  func complete() {
    state.withLock { state in
      state.isComplete = true
      state.length = state.count
      state.pieces.wholeLength = state.count
    }
  }
}

extension DiskBody.State {
  /// A range of appended bytes, and whether its bytes are stored already.
  fileprivate typealias Step = (range: Range<Int64>, isStored: Bool)

  /// Appended bytes that were not stored before.
  var added: Int64 { flushed + buffered }

  /// The contiguous bytes in memory from the beginning of a range, at most to its end.
  func pendingBytes(_ range: Range<Int64>) -> BodyBytes {
    var slices: [BodyBytes] = []
    var position = range.lowerBound
    for next in pending where next.end > position {
      guard next.start <= position, position < range.upperBound else { break }
      let end = min(range.upperBound, next.end)
      slices.append(next.bytes[Int(position - next.start)..<Int(end - next.start)])
      position = end
    }
    return BodyBytes(joining: slices)
  }

  /// The range from a position on that is in the file; empty if the position is not in the file.
  func fileRange(from position: Int64) -> Range<Int64> {
    guard let range = ranges.first(where: { $0.contains(position) }) else { return position..<position }
    // Pending bytes have no common order when parts are written.
    let next = pending.lazy.map(\.start).filter { $0 >= position }.min() ?? .max
    return position..<min(range.upperBound, next)
  }

  fileprivate func steps(for count: Int64) -> [Step] {
    var steps: [Step] = []
    var rest = count
    for target in targets {
      var position = target.lowerBound
      while rest > 0, position < target.upperBound {
        var end = position + min(rest, target.upperBound - position)
        var isStored = false
        if let piece = pieces.piece(atOrAfter: position) {
          isStored = piece.start <= position
          end = min(end, isStored ? piece.end : piece.start)
        }
        steps.append((position..<end, isStored))
        rest -= end - position
        position = end
      }
      if rest == 0 { break }
    }
    return steps
  }

  fileprivate mutating func append(_ bytes: BodyBytes, _ steps: [Step]) {
    var rest = bytes
    for (range, isStored) in steps {
      if !isStored {
        pending.append(DiskBody.Pending(start: range.lowerBound, bytes: rest.prefix(range.count)))
        buffered += Int64(range.count)
        count += Int64(range.count)
        if let last = ranges.last, last.upperBound == range.lowerBound {
          ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
          ranges = StoredRanges.union(ranges + [range])
        }
      }
      rest = rest.dropFirst(range.count)
      while let target = targets.first, target.upperBound <= range.upperBound { targets.removeFirst() }
      if let target = targets.first, target.lowerBound < range.upperBound {
        targets[0] = range.upperBound..<target.upperBound
      }
    }
    written += Int64(bytes.count)
    // Join many small pieces, so that taking a slice stays cheap.
    if pending.count >= 256 { join() }
  }

  private mutating func join() {
    pending = StoredRanges.union(pending.map(\.range)).map {
      DiskBody.Pending(start: $0.lowerBound, bytes: pendingBytes($0))
    }
  }

  fileprivate func nextPiece(all: Bool) -> DiskBody.Pending? {
    guard let first = pending.first else { return nil }
    let blockEnd = StoredPieces.blockEnd(of: first.start)
    var end = first.start
    for next in pending where next.start == end && end < blockEnd { end = min(next.end, blockEnd) }
    // The piece may still grow if the next byte to arrive belongs right after it.
    guard all || end == blockEnd || targets.first?.lowerBound != end else { return nil }
    return DiskBody.Pending(start: first.start, bytes: pendingBytes(first.start..<end))
  }
}
