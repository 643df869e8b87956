import Foundation
import HTTPCaching
import Synchronization

/// Adds up the progress of all transfers and draws it on a terminal, ten times a second at most.
final class ProgressMeter: Sendable {
  private struct State {
    var transfers: Int
    var done = 0
    var received: Int64 = 0
    var expected: Int64 = 0
    var unknown = 0
    var samples: [(time: Duration, bytes: Int64)] = []
    var lastDrawn = Duration.zero
    var isDrawn = false
  }

  private let state: Mutex<State>
  private let isShown: Bool
  private let clock: any CacheClock

  /// Makes a meter.
  ///
  /// - Parameters:
  ///   - transfers: how many there are in all.
  ///   - isShown: whether to draw; lines are printed either way.
  init(transfers: Int, isShown: Bool, clock: any CacheClock = SystemClock()) {
    state = Mutex(State(transfers: transfers))
    self.isShown = isShown
    self.clock = clock
  }

  /// A transfer began; `length` bytes are expected.
  func begin(length: Int64?) {
    state.withLock { state in
      if let length { state.expected += length } else { state.unknown += 1 }
    }
  }

  /// Bytes arrived.
  func add(_ count: Int) {
    state.withLock { $0.received += Int64(count) }
    guard isShown else { return }
    let now = clock.uptime
    let text = state.withLock { state -> ProgressText? in
      guard !state.isDrawn || now - state.lastDrawn >= .milliseconds(100) else { return nil }
      state.lastDrawn = now
      state.isDrawn = true
      state.samples.append((now, state.received))
      if state.samples.count > 50 { state.samples.removeFirst() }
      return Self.text(state)
    }
    guard let text else { return }
    let width = (Terminal.width(STDERR_FILENO) ?? 80) - 1
    Console.current.error("\r\u{1B}[K" + text.line(width: width))
  }

  /// Prints a line in the bar's place, while transfers go on.
  func say(_ line: String) {
    let wasDrawn = state.withLock { state in
      defer { state.isDrawn = false }
      return state.isDrawn
    }
    if wasDrawn { Console.current.error("\r\u{1B}[K") }
    Console.report(line)
  }

  /// A transfer ended; prints its line in the bar's place.
  func end(printing line: String?) {
    let wasDrawn = state.withLock { state in
      state.done += 1
      defer { state.isDrawn = false }
      return state.isDrawn
    }
    if wasDrawn { Console.current.error("\r\u{1B}[K") }
    if let line { Console.report(line) }
  }

  private static func text(_ state: State) -> ProgressText {
    var rate = 0.0
    if let first = state.samples.first, let last = state.samples.last, last.time > first.time {
      rate = Double(last.bytes - first.bytes) / ((last.time - first.time) / .seconds(1))
    }
    return ProgressText(
      received: state.received, total: state.unknown == 0 ? state.expected : nil, rate: rate,
      done: state.done, transfers: state.transfers)
  }
}
