import HTTPCaching
import Synchronization

/// Listens for what became of the responses, since a response is stored only when its body ended.
final class StorageRecorder: CacheObserver {
  /// What became of a response.
  enum Result: Sendable, Equatable {
    /// It is stored, with a body of this many bytes.
    case stored(bytes: Int64)
    /// It is not.
    case notStored(StorageRefusal)
  }

  private struct State {
    var results: [String: Result] = [:]
    var hasWarned = false
  }

  private let state = Mutex(State())
  private let warn: @Sendable (String) -> Void

  /// Makes a recorder.
  ///
  /// - Parameter warn: is told once when the store fails.
  init(warn: @escaping @Sendable (String) -> Void = { _ in }) { self.warn = warn }

  func cache(did event: CacheEvent) {
    switch event {
    case .stored(let key, let bytes):
      state.withLock { $0.results[key.target] = .stored(bytes: bytes) }
    case .notStored(let target, let refusal):
      state.withLock { $0.results[target] = .notStored(refusal) }
    case .storeFailed(let operation, let error):
      let isFirst = state.withLock { state in
        defer { state.hasWarned = true }
        return !state.hasWarned
      }
      // A cache that says on opening that it is damaged has begun anew.
      let isAnew = operation == "open" && error.code == .damaged
      if isFirst {
        warn(
          isAnew ? error.message : "cache storage error (\(operation): \(error)); responses are not stored")
      }
    case .capacityChanged(let old, let new, let usage):
      warn(HumanText.capacityChange(from: old, to: new, usage: usage))
    case .encryption(let notice):
      warn("\(notice)")
    default:
      break
    }
  }

  /// What became of the response of a target; nil before its body ended, and where nothing was to
  /// be stored.
  func result(for target: String) -> Result? { state.withLock { $0.results[target] } }
}
