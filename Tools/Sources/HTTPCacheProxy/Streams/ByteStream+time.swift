import NIOCore
import Synchronization

/// One timer for the earliest deadline.
extension ByteStream {
  /// Lets the event loop serve its other connections. A task that never waits would keep the thread.
  func letOthersRun() async {
    // An event loop polls its sockets only when no task is ready to run.
    try? await channel.eventLoop.scheduleTask(in: .microseconds(100)) {}.futureResult.get()
  }

  func arm(_ deadline: NIODeadline) {
    let isArmed = state.withLock { state in
      guard let timer = state.timer else { return state.isClosed }
      return timer.deadline <= deadline
    }
    if isArmed { return }
    let scheduled = channel.eventLoop.scheduleTask(deadline: deadline) { [weak self] in
      guard let self else { return }
      self.timerFired()
    }
    let superfluous = state.withLock { state -> Scheduled<Void>? in
      if state.isClosed { return scheduled }
      let former = state.timer?.scheduled
      state.timer = (deadline, scheduled)
      return former
    }
    superfluous?.cancel()
  }

  private func timerFired() {
    let now = now
    let due = state.withLock { state in
      state.timer = nil
      var woken: [CheckedContinuation<Void, Never>] = []
      var watcher: (@Sendable () -> Void)?
      if let deadline = state.readDeadline, deadline <= now {
        state.readDeadline = nil
        watcher = state.watcher.take()
        if let reader = state.reader.take() { woken.append(reader) }
      }
      if let deadline = state.writeDeadline, deadline <= now {
        state.writeDeadline = nil
        if let writer = state.writer.take() { woken.append(writer) }
      }
      let next = [state.readDeadline, state.writeDeadline].compactMap { $0 }.min()
      return (woken: woken, watcher: watcher, next: next)
    }
    for continuation in due.woken { continuation.resume() }
    due.watcher?()
    if let next = due.next { arm(next) }
  }
}
