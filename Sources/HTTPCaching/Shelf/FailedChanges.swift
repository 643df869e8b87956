import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Invalidations and removals that the store failed to make. The responses that they select must not be
/// reused without validation (RFC 9111 §4.4), so requests treat the changes as made, and the cache tries
/// them again.
///
/// Beyond 64 failed changes, every stored response counts as invalidated.
final class FailedChanges: Sendable {
  /// An invalidation or a removal.
  struct Change: Sendable {
    fileprivate let number: Int
    let selection: CacheSelection
    let removes: Bool
    /// When the store failed. Responses to later requests are not affected.
    fileprivate let time: Timestamp
  }

  private struct State {
    var changes: [Change] = []
    var lastNumber = 0
    var isRetrying = false
    var retryAfter: Duration?
  }

  private static let limit = 64
  private static let pause = Duration.seconds(1)

  private let state = Mutex(State())
  // Atomic, because each hit reads it and must not wait for a lock.
  private let count = Atomic<Int>(0)

  /// Whether there are no failed changes.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Adds a change that the store failed to make.
  func insert(_ selection: CacheSelection, removes: Bool, at time: Timestamp) {
    state.withLock { state in
      state.lastNumber += 1
      state.changes.removeAll { $0.selection == selection && $0.removes == removes }
      if state.changes.count >= Self.limit {
        state.changes = [Change(number: state.lastNumber, selection: .all, removes: false, time: time)]
      } else {
        state.changes.append(
          Change(number: state.lastNumber, selection: selection, removes: removes, time: time))
      }
      count.store(state.changes.count, ordering: .releasing)
    }
  }

  /// The variants that a request may use: without those that should have been removed, and with those
  /// invalidated that should have been.
  func applied(to variants: [StoredVariant]) -> [StoredVariant] {
    if isEmpty { return variants }
    let changes = state.withLock { $0.changes }
    return variants.compactMap { variant in
      let record = variant.record
      var isInvalidated = false
      for change in changes where change.concerns(record) {
        if change.removes { return nil }
        isInvalidated = true
      }
      guard isInvalidated, !record.response.isInvalidated else { return variant }
      return StoredVariant(
        record: record.with(response: record.response.marked(as: .invalidated)), body: variant.body)
    }
  }

  /// Whether any of the changes selects one of these variants.
  func concern(_ variants: [StoredVariant]) -> Bool {
    if isEmpty { return false }
    let changes = state.withLock { $0.changes }
    return variants.contains { variant in changes.contains { $0.concerns(variant.record) } }
  }

  /// The changes to try again; empty while another request tries them, or shortly after a failed attempt.
  func beginRetry(uptime: Duration) -> [Change] {
    if isEmpty { return [] }
    return state.withLock { state in
      if state.isRetrying { return [] }
      if let time = state.retryAfter, uptime < time { return [] }
      state.isRetrying = true
      return state.changes
    }
  }

  /// Ends an attempt that `beginRetry` began.
  ///
  /// - Parameter done: the changes that the store has now made.
  func endRetry(done: [Change], uptime: Duration) {
    let numbers = Set(done.map(\.number))
    state.withLock { state in
      state.changes.removeAll { numbers.contains($0.number) }
      state.isRetrying = false
      state.retryAfter = state.changes.isEmpty ? nil : uptime + Self.pause
      count.store(state.changes.count, ordering: .releasing)
    }
  }
}

extension FailedChanges.Change {
  /// Whether the change selects a response that was requested, or validated, before the store failed, or in
  /// the same second.
  fileprivate func concerns(_ record: CacheRecord) -> Bool {
    // No change selects by last use.
    record.response.requestTime <= time
      && selection.matches(record, lastUsed: record.response.responseTime)
  }
}
