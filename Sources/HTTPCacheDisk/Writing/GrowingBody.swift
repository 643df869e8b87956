import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A body that is being written, or parts of one: what is in its file already, and what is still in memory. Bytes
/// that are stored already are passed over.
final class GrowingBody: Sendable {
  /// Appended bytes that are not in the file yet.
  struct Pending: Sendable {
    let start: Int64
    let bytes: BodyBytes

    var end: Int64 { start + Int64(bytes.count) }
    var range: Range<Int64> { start..<end }
  }

  struct State: Sendable {
    /// What is in the file.
    var pieces: StoredPieces
    var file: BlockReader?
    /// What is in memory.
    var pending: [Pending] = []
    /// Where the bytes go that are appended next, one range after the other.
    var targets: [Range<Int64>]
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

  /// - Parameters:
  ///   - pieces: what is stored already, in `file`.
  ///   - targets: where the appended bytes go, one range after the other.
  ///   - length: of the whole body, if it is known.
  init(
    pieces: StoredPieces = StoredPieces(), file: BlockReader? = nil, targets: [Range<Int64>],
    length: Int64?
  ) {
    let ranges = pieces.ranges
    state = Mutex(
      State(
        pieces: pieces, file: file, targets: targets, ranges: ranges,
        count: StoredRanges.count(ranges), length: length))
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

  /// The bytes that are to be written as the next piece; nil while it still grows.
  ///
  /// - Parameter all: takes it as it is.
  func nextPiece(all: Bool) -> Pending? { snapshot.nextPiece(all: all) }

  /// What `nextPiece` told is in the file now.
  ///
  /// - Parameter piece: with the pieces of the block that it touches.
  func didFlush(_ next: Pending, as piece: StoredPiece, file: BlockReader) {
    state.withLock { state in
      state.file = file
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

  /// All of the body is there and stored.
  func complete() {
    state.withLock { state in
      state.isComplete = true
      state.length = state.count
      state.pieces.wholeLength = state.count
    }
  }
}

extension GrowingBody.State {
  /// Where some of the next bytes go.
  fileprivate typealias Step = (range: Range<Int64>, isStored: Bool)

  /// Bytes that came and were not stored before.
  var added: Int64 { flushed + buffered }

  /// The bytes in memory from a place on, up to another one, as far as they follow one another.
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
        pending.append(GrowingBody.Pending(start: range.lowerBound, bytes: rest.prefix(range.count)))
        buffered += Int64(range.count)
        count += Int64(range.count)
        add(range)
      }
      rest = rest.dropFirst(range.count)
      while let target = targets.first, target.upperBound <= range.upperBound { targets.removeFirst() }
      if let target = targets.first, target.lowerBound < range.upperBound {
        targets[0] = range.upperBound..<target.upperBound
      }
    }
    written += Int64(bytes.count)
    // Many small pieces are made one, so that a slice of much costs no more than itself.
    if pending.count >= 256 { join() }
  }

  private mutating func add(_ range: Range<Int64>) {
    if let last = ranges.last, last.upperBound == range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
    } else {
      ranges = StoredRanges.union(ranges + [range])
    }
  }

  private mutating func join() {
    pending = StoredRanges.union(pending.map(\.range)).map {
      GrowingBody.Pending(start: $0.lowerBound, bytes: pendingBytes($0))
    }
  }

  fileprivate func nextPiece(all: Bool) -> GrowingBody.Pending? {
    guard let first = pending.first else { return nil }
    let blockEnd = StoredPieces.blockEnd(of: first.start)
    var end = first.start
    for next in pending where next.start == end && end < blockEnd { end = min(next.end, blockEnd) }
    // It grows as long as the next byte that comes may go right behind it.
    guard all || end == blockEnd || targets.first?.lowerBound != end else { return nil }
    return GrowingBody.Pending(start: first.start, bytes: pendingBytes(first.start..<end))
  }
}
