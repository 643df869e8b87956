import Synchronization

/// How to cancel each request of a session that has not ended.
final class RunningRequests: Sendable {
  private struct State {
    var isClosed = false
    var last = 0
    var cancels: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// Adds a request.
  ///
  /// - Returns: its number; nil once the session accepts no more requests.
  func add(_ cancel: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.last += 1
      state.cancels[state.last] = cancel
      return state.last
    }
  }

  /// Replaces how to cancel a request.
  ///
  /// - Returns: whether the request was not cancelled yet.
  func replace(_ number: Int, _ cancel: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard state.cancels[number] != nil else { return false }
      state.cancels[number] = cancel
      return true
    }
  }

  func remove(_ number: Int) { state.withLock { _ = $0.cancels.removeValue(forKey: number) } }

  /// Accepts no more requests.
  func close() { state.withLock { $0.isClosed = true } }

  /// Accepts no more requests, and cancels all.
  func cancelAll() {
    let cancels = state.withLock { state in
      state.isClosed = true
      defer { state.cancels = [:] }
      return state.cancels
    }
    for cancel in cancels.values { cancel() }
  }
}
