import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A sealed body that is stored or being written: the chunks that the store below has, and for readers the bytes that
/// are not yet, or never will be, in a whole chunk.
final class SealedGrowth: Sendable {
  struct State: Sendable {
    /// The bytes of chunks that the store below has.
    var sealed: [Range<Int64>]
    /// Bytes at the ends of parts, in no whole chunk and not stored.
    var fragments: [(start: Int64, bytes: BodyBytes)] = []
    /// Bytes of the chunk that is being filled, and their position.
    var pending: [UInt8] = []
    var pendingStart: Int64 = 0
    /// The length of the whole body, once known.
    var length: Int64?
    /// The number of appended bytes.
    var written: Int64 = 0
    /// Why it takes no more bytes.
    var end: CacheError?

    var pendingRange: Range<Int64> { pendingStart..<pendingStart + Int64(pending.count) }

    /// All ranges that can be read.
    var available: [Range<Int64>] {
      StoredRanges.union(
        sealed + [pendingRange] + fragments.map { $0.start..<$0.start + Int64($0.bytes.count) })
    }
  }

  /// The bytes at the beginning of a range, up to the end of the place that has them.
  enum Place: Sendable {
    case bytes(BodyBytes)
    case sealed(Range<Int64>)
    case nowhere
  }

  private let state: Mutex<State>

  /// - Parameter stored: the bytes of chunks that were stored before.
  init(stored: [Range<Int64>], length: Int64?) {
    state = Mutex(State(sealed: stored, length: length))
  }

  var snapshot: State { state.withLock { $0 } }

  func change<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
    state.withLock { body(&$0) }
  }

  /// The place of the beginning of a range.
  func place(of range: Range<Int64>) -> Place {
    state.withLock { state in
      guard !range.isEmpty else { return .nowhere }
      if let stored = state.sealed.first(where: { $0.contains(range.lowerBound) }) {
        return .sealed(range.clamped(to: stored))
      }
      let pending = state.pendingRange
      if pending.contains(range.lowerBound) {
        let wanted = range.clamped(to: pending)
        let start = Int(wanted.lowerBound - pending.lowerBound)
        return .bytes(BodyBytes(state.pending[start..<start + wanted.count]))
      }
      for fragment in state.fragments {
        let place = fragment.start..<fragment.start + Int64(fragment.bytes.count)
        guard place.contains(range.lowerBound) else { continue }
        let wanted = range.clamped(to: place)
        let start = Int(wanted.lowerBound - place.lowerBound)
        return .bytes(fragment.bytes[start..<start + wanted.count])
      }
      return .nowhere
    }
  }
}
