import Foundation
import HTTPCacheProxy
import HTTPCaching
import Synchronization

/// Draws the progress of all transfers on a terminal, ten times a second at most: a line for each, and one
/// for all.
final class ProgressMeter: Sendable {
  /// A transfer that is under way.
  typealias Bar = Int

  private struct Line {
    let name: String
    let length: Int64?
    let start: Int64
    var position: Int64
    var samples: [(time: Duration, position: Int64)] = []
  }

  private struct State {
    var transfers: Int
    var done = 0
    var next: Bar = 0
    var lines: [Bar: Line] = [:]
    /// Bytes of transfers that ended.
    var received: Int64 = 0
    var expected: Int64 = 0
    var lastDrawn: Duration?
    var drawnLines = 0
  }

  /// Maximum number of transfers with a line of their own; further ones count only in the last line.
  private static let lineLimit = 8

  private let state: Mutex<State>
  private let isShown: Bool
  private let clock: any CacheClock

  /// Makes a meter.
  ///
  /// - Parameters:
  ///   - transfers: number of transfers in all.
  ///   - isShown: whether to draw; lines are printed either way.
  init(transfers: Int, isShown: Bool, clock: any CacheClock = SystemClock()) {
    state = Mutex(State(transfers: transfers))
    self.isShown = isShown
    self.clock = clock
  }

  /// A transfer began.
  ///
  /// - Parameters:
  ///   - length: the length of the whole body in bytes, if known.
  ///   - start: number of bytes that an earlier transfer received.
  func begin(_ url: String, length: Int64?, from start: Int64) -> Bar {
    let name = FileName.safe(from: url)
    return state.withLock { state in
      state.next += 1
      state.lines[state.next] = Line(name: name, length: length, start: start, position: start)
      return state.next
    }
  }

  /// Bytes arrived.
  ///
  /// - Parameter position: number of bytes now, those of an earlier transfer included.
  func add(_ count: Int, to bar: Bar, at position: Int64) {
    let now = clock.uptime
    let text = state.withLock { state -> String? in
      // The cache's bytes are read again before new bytes arrive.
      if let line = state.lines[bar] { state.lines[bar]?.position = max(line.start, position) }
      guard isShown, state.lastDrawn.map({ now - $0 >= .milliseconds(100) }) ?? true else { return nil }
      state.lastDrawn = now
      return Self.drawing(&state, now, width: (Terminal.width(STDERR_FILENO) ?? 80) - 1)
    }
    if let text { Console.current.error(text) }
  }

  /// A transfer has received its last byte.
  func leave(_ bar: Bar) {
    state.withLock { state in
      guard let line = state.lines.removeValue(forKey: bar) else { return }
      state.received += line.position
      state.expected += line.length ?? line.position
    }
  }

  /// A transfer ended; prints its line instead of the drawing.
  func end(printing line: String?) {
    let clearing = state.withLock { state in
      state.done += 1
      return Self.clearing(&state)
    }
    Console.current.error(clearing + (line.map { $0.printable + "\n" } ?? ""))
  }

  /// Prints a line above the drawing.
  func say(_ line: String) {
    Console.current.error(state.withLock { Self.clearing(&$0) } + line.printable + "\n")
  }

  private static func clearing(_ state: inout State) -> String {
    defer { (state.drawnLines, state.lastDrawn) = (0, nil) }
    guard state.drawnLines > 0 else { return "" }
    return "\r" + (state.drawnLines > 1 ? "\u{1B}[\(state.drawnLines - 1)A" : "") + "\u{1B}[J"
  }

  private static func drawing(_ state: inout State, _ now: Duration, width: Int) -> String {
    for bar in state.lines.keys {
      guard let position = state.lines[bar]?.position else { continue }
      state.lines[bar]?.samples.append((now, position))
      if state.lines[bar]?.samples.count ?? 0 > 50 { state.lines[bar]?.samples.removeFirst() }
    }
    let lines = state.lines.sorted { $0.key < $1.key }.map(\.value)
    var texts: [String] = []
    if state.transfers > 1 {
      texts = lines.prefix(lineLimit).map { line in
        let name = String(line.name.prefix(24))
        let padded = name + String(repeating: " ", count: 24 - name.count) + "  "
        return padded + text(line).line(width: max(1, width - padded.count))
      }
    }
    texts.append(all(state, lines).line(width: width))
    let top = clearing(&state)
    state.lastDrawn = now
    state.drawnLines = texts.count
    return top + (top.isEmpty ? "\r" : "") + texts.map { String($0.prefix(width)) }.joined(separator: "\n")
  }

  private static func text(_ line: Line) -> ProgressText {
    ProgressText(received: line.position, total: line.length, rate: rate(line), done: 0, transfers: 1)
  }

  private static func all(_ state: State, _ lines: [Line]) -> ProgressText {
    let isKnown = lines.allSatisfy { $0.length != nil } && state.done + lines.count >= state.transfers
    return ProgressText(
      received: lines.reduce(state.received) { $0 + $1.position },
      total: isKnown ? lines.reduce(state.expected) { $0 + ($1.length ?? 0) } : nil,
      rate: lines.reduce(0) { $0 + rate($1) }, done: state.done, transfers: state.transfers)
  }

  private static func rate(_ line: Line) -> Double {
    guard let first = line.samples.first, let last = line.samples.last, last.time > first.time else {
      return 0
    }
    return Double(last.position - first.position) / ((last.time - first.time) / .seconds(1))
  }
}
