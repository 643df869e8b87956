import NIOCore
import Synchronization

/// A client that has ended its output before its answer began may be gone, or wait for the answer: both look alike until
/// bytes are sent.
extension ByteStream {
  /// How a connection waits for the begin of an answer.
  struct Waiting {
    /// How long the peer may have ended its output.
    let patience: TimeAmount
    /// Whether the connection must stay all the same, for a while more.
    let isNeeded: @Sendable () -> Bool
    var timer: Scheduled<Void>?
  }

  /// Closes the connection if its peer has ended its output, and the answer does not begin for a while after that.
  ///
  /// - Parameters:
  ///   - patience: this while.
  ///   - isNeeded: asked after each while; true lets another one pass.
  func closeIfAbandoned(after patience: TimeAmount, unless isNeeded: @escaping @Sendable () -> Bool) {
    let hasEnded = state.withLock { state in
      state.waiting = Waiting(patience: patience, isNeeded: isNeeded)
      return state.end != nil
    }
    if hasEnded { timeAbandoned() }
  }

  /// The answer begins, or there is none.
  func answerBegins() {
    state.withLock { $0.waiting.take()?.timer }?.cancel()
  }

  /// Begins to wait for the begin of the answer, if it is awaited.
  func timeAbandoned() {
    guard let patience = state.withLock({ $0.waiting?.timer == nil ? $0.waiting?.patience : nil }) else {
      return
    }
    let timer = channel.eventLoop.scheduleTask(in: patience) { [weak self] in
      guard let self else { return }
      self.endIfAbandoned()
    }
    let isSuperfluous = state.withLock { state in
      guard state.waiting != nil, state.waiting?.timer == nil else { return true }
      state.waiting?.timer = timer
      return false
    }
    if isSuperfluous { timer.cancel() }
  }

  private func endIfAbandoned() {
    let isNeeded = state.withLock { state in
      state.waiting?.timer = nil
      return state.waiting?.isNeeded
    }
    guard let isNeeded else { return }
    if isNeeded() { return timeAbandoned() }
    // The answer may have begun meanwhile.
    let isAbandoned = state.withLock { state in
      guard state.waiting?.timer == nil else { return false }
      return state.waiting.take() != nil
    }
    if isAbandoned { close() }
  }
}
