import HTTPCacheProxy
import HTTPCaching
import Synchronization

/// An observer that records whether each response was stored, which is known only after the end of its body.
final class StorageRecorder: CacheObserver {
  /// How storing a response ended.
  enum Result: Sendable, Equatable {
    /// Stored, with the number of bytes that came from the origin.
    case stored(bytes: Int64)
    /// Broke off; the cache keeps this many bytes.
    case kept(bytes: Int64)
    /// Not stored.
    case notStored(StorageRefusal)
  }

  private struct State {
    var results: [String: Result] = [:]
    var waiters: [String: [AsyncStream<Result>.Continuation]] = [:]
    /// The operations whose failure was told.
    var warned: Set<String> = []
  }

  private let state = Mutex(State())
  private let warn: @Sendable (String) -> Void

  /// Makes a recorder.
  ///
  /// - Parameter warn: called once for each operation of the store that fails, and for each damaged response.
  init(warn: @escaping @Sendable (String) -> Void = { _ in }) { self.warn = warn }

  func observe(_ event: CacheEvent) {
    switch event {
    case .stored(let key, let bytes): set(.stored(bytes: bytes), for: key.target)
    case .kept(let key, let bytes): set(.kept(bytes: bytes), for: key.target)
    case .notStored(let target, let refusal): set(.notStored(refusal), for: target)
    case .storeFailed(operation: "open body", let error) where event.isOfOneEntry,
      .storeFailed(operation: "read body", let error) where event.isOfOneEntry:
      // An entry that was evicted meanwhile is nothing to report.
      if error.code == .damaged { warn("a stored response is damaged, and counts as not stored (\(error))") }
    case .storeFailed(let operation, let error): storeFailed(operation, error)
    case .capacityChanged(let old, let new, let usage):
      warn(HumanText.capacityChange(from: old, to: new, usage: usage))
    case .encryption(let notice):
      warn("\(notice)")
    case .answered, .hookFailed, .removed, .freshened, .invalidated, .selectionRemoved,
      .selectionInvalidated, .selectionExpired, .siteCleared, .wiped, .upstreamFailed, .notAsked,
      .validatingInBackground, .fleet:
      break
    @unknown default: break
    }
  }

  private func storeFailed(_ operation: String, _ error: CacheError) {
    let isFirst = state.withLock { state in
      state.warned.insert(operation).inserted
    }
    if isFirst { warn(HumanText.storeFailure(error, during: operation)) }
  }

  private func set(_ result: Result, for target: String) {
    let waiters = state.withLock { state in
      state.results[target] = result
      return state.waiters.removeValue(forKey: target) ?? []
    }
    for waiter in waiters {
      waiter.yield(result)
      waiter.finish()
    }
  }

  /// How storing the response of a target ended; nil before the end of its body, and if it was never begun.
  func result(for target: String) -> Result? { state.withLock { $0.results[target] } }

  /// Waits until storing the response of a target has ended, even in a cancelled task.
  ///
  /// - Parameter limit: maximum time to wait; then nil is returned.
  func result(for target: String, within limit: Duration, clock: any CacheClock) async -> Result? {
    let (results, continuation) = AsyncStream.makeStream(of: Result.self)
    let known = state.withLock { state -> Result? in
      if let result = state.results[target] { return result }
      state.waiters[target, default: []].append(continuation)
      return nil
    }
    if let known { return known }
    // Unstructured tasks, because the caller's task may be cancelled.
    let end = Task.detached {
      do { try await clock.sleep(for: limit) } catch { return }
      continuation.finish()
    }
    defer { end.cancel() }
    return await Task.detached { await results.first { _ in true } }.value
  }
}
