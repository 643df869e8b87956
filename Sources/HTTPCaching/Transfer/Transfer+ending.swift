import Synchronization

extension Transfer {
  /// Waits until the transfer has ended, stored or not.
  func ended() async { await completion().take() }

  /// Whether all readers have left and the fetch is stopping: the store does not have all bytes yet that will
  /// be kept.
  var isBeingAbandoned: Bool {
    state.withLock { $0.progress.isRunning && $0.progress.isAbandoned }
  }

  /// Waits until the transfer has ended.
  ///
  /// - Parameter limit: the longest time to wait; nil for no limit.
  /// - Returns: whether it has ended.
  /// - Throws: `CancellationError` when the caller is cancelled.
  func ended(within limit: Duration?) async throws -> Bool {
    await completion().take(within: limit, clock, otherwise: ())
    try Task.checkCancellation()
    return state.withLock { !$0.progress.isRunning }
  }

  private func completion() -> OneShot<Void> {
    let completion = OneShot<Void>()
    let isOver = state.withLock { state in
      guard state.progress.isRunning else { return true }
      state.completion.append(completion)
      return false
    }
    if isOver { completion.give(()) }
    return completion
  }
}
