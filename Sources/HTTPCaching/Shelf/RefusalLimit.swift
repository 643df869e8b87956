import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Limits the notes about responses that were not stored: an equal note at most once a second, and a bounded
/// number of different notes. A flood of uncacheable responses then costs almost nothing.
final class RefusalLimit: Sendable {
  /// The maximum number of notes in one second.
  static let perSecond = 64

  private struct State {
    var second: Int64 = .min
    var noted: Set<Int> = []
  }

  private let state = Mutex(State())

  /// Whether to make this note.
  func allows(_ refusal: StorageRefusal, status: Int, key: CacheKey, now: Timestamp) -> Bool {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(status)
    hasher.combine(refusal)
    let note = hasher.finalize()
    return state.withLock { state in
      if state.second != now.seconds {
        state.second = now.seconds
        state.noted.removeAll(keepingCapacity: true)
      }
      return state.noted.count < Self.perSecond && state.noted.insert(note).inserted
    }
  }
}
