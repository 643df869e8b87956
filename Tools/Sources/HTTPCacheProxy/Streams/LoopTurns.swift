import NIOCore
import Synchronization

/// Lets the connections of an event loop that have much to do take turns, so that the others are read between any two.
/// An event loop polls its sockets only when no task is ready to run.
final class LoopTurns: Sendable {
  /// Long enough that the loop finds no task that is ready, and polls.
  static let pause = TimeAmount.microseconds(100)

  private struct State {
    var waiting = CircularBuffer<@Sendable () -> Void>()
    /// Whether a turn is scheduled or under way.
    var isBusy = false
  }

  private let loop: any EventLoop
  private let state = Mutex(State())

  init(loop: any EventLoop) { self.loop = loop }

  /// Whether connections wait for their turn, or one has it.
  var isBusy: Bool { state.withLock { $0.isBusy } }

  /// Calls `begin` on the event loop, at the turn of the caller.
  func enqueue(_ begin: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      state.waiting.append(begin)
      defer { state.isBusy = true }
      return !state.isBusy
    }
    if isFirst { schedule() }
  }

  /// Returns at the turn of the caller.
  func next() async {
    await withCheckedContinuation { continuation in self.enqueue { continuation.resume() } }
  }

  private func schedule() {
    let turn = loop.scheduleTask(in: Self.pause) {
      self.state.withLock { $0.waiting.popFirst() }?()
      // Behind the steps that this turn has made ready: the pause counts from their end.
      self.loop.execute {
        let isBusy = self.state.withLock { state in
          state.isBusy = !state.waiting.isEmpty
          return state.isBusy
        }
        if isBusy { self.schedule() }
      }
    }
    // A loop that ends takes no tasks: the steps that wait run without turns.
    turn.futureResult.whenFailure { _ in
      let waiting = self.state.withLock { state in
        defer { state = State() }
        return state.waiting
      }
      for begin in waiting { begin() }
    }
  }
}
