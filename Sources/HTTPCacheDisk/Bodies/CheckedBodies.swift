import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// The blocks of body files that this process checked after earlier opens. They count as checked while the file's
/// state is unchanged, and for an hour at most: bytes that decay on the medium change none of the file's times.
final class CheckedBodies: Sendable {
  private struct Body {
    var state: FileState
    var blocks: CheckedBlocks
    /// The time of the first check, by the monotonic clock.
    var since: Duration
  }

  private struct Bodies {
    var recent: [BodyName: Body] = [:]
    // Bodies that were not opened since `recent` was last full.
    var older: [BodyName: Body] = [:]

    mutating func add(_ body: Body, as name: BodyName) {
      if recent.count >= CheckedBodies.half, recent[name] == nil {
        older = recent
        recent = [:]
      }
      recent[name] = body
    }
  }

  /// Half of the maximum number of bodies to remember.
  static let half = 2048
  static let lifetime = Duration.seconds(3600)

  private let clock: any CacheClock
  private let systemTime: @Sendable () -> FileState.Moment
  private let bodies = Mutex(Bodies())

  /// - Parameter systemTime: the time by the clock that dates files.
  init(
    clock: any CacheClock, systemTime: @escaping @Sendable () -> FileState.Moment = FileState.Moment.now
  ) {
    self.clock = clock
    self.systemTime = systemTime
  }

  /// The checked blocks of a file whose state is unchanged; otherwise an empty set, to which the caller adds blocks.
  func blocks(of name: BodyName, _ state: FileState) -> CheckedBlocks {
    // A file that was changed a moment ago may change again within the same tick of its clock. Remember its
    // checked blocks for this open only.
    guard state.isSettled(at: systemTime()) else { return CheckedBlocks() }
    let now = clock.uptime
    return bodies.withLock { bodies in
      let older = bodies.older.removeValue(forKey: name)
      if let body = bodies.recent[name] ?? older, body.state == state,
        now - body.since < Self.lifetime
      {
        if older != nil { bodies.add(body, as: name) }
        return body.blocks
      }
      let body = Body(state: state, blocks: CheckedBlocks(), since: now)
      bodies.add(body, as: name)
      return body.blocks
    }
  }

  /// The number of bodies remembered.
  var count: Int { bodies.withLock { $0.recent.count + $0.older.count } }
}

/// The blocks of a body file whose checksums were found correct.
final class CheckedBlocks: Sendable {
  // Whether each block was checked: 64 blocks in a word. Words without checked blocks are absent, because a partial
  // body may begin at any offset.
  private let words = Mutex<[Int: UInt64]>([:])

  init() {}

  /// Whether each of these blocks was checked.
  func contains(_ range: Range<Int>) -> Bool {
    words.withLock { words in
      var rest = range
      while !rest.isEmpty {
        let (word, mask) = Self.removeFirst(&rest)
        guard let checked = words[word], checked & mask == mask else { return false }
      }
      return true
    }
  }

  func insert(_ range: Range<Int>) {
    words.withLock { words in
      var rest = range
      while !rest.isEmpty {
        let (word, mask) = Self.removeFirst(&rest)
        words[word, default: 0] |= mask
      }
    }
  }

  /// Removes the blocks of the first word from a range, and returns the word and the bits of these blocks.
  private static func removeFirst(_ range: inout Range<Int>) -> (word: Int, mask: UInt64) {
    let first = range.lowerBound & 63
    let count = min(range.count, 64 - first)
    let word = range.lowerBound >> 6
    range = range.lowerBound + count..<range.upperBound
    return (word, (UInt64.max >> UInt64(64 - count)) << UInt64(first))
  }
}
