import HTTPCacheLibC
import NIOCore
import NIOPosix
import Synchronization

/// Writes lines to a descriptor on a separate thread, so that a pipe or terminal without a reader delays neither
/// requests nor the end of the process.
public final class LineWriter: Sendable {
  private struct State {
    var lines: [@Sendable () -> String] = []
    /// The number of bytes of these lines, estimated.
    var size = 0
    var dropped = 0
    /// Whether the last written byte is within a line whose rest was dropped.
    var isWithinLine = false
    /// Whether the thread was woken for the waiting lines, or writes.
    var isWriting = false
    /// The event loop that is to wake the thread.
    var loop: ObjectIdentifier?
    var isEnding = false
    var flushes: [CheckedContinuation<Void, Never>] = []

    mutating func start() -> Step {
      isWriting = true
      loop = nil
      return .start
    }
  }

  /// The step after a line was added.
  private enum Step {
    /// The thread is woken.
    case start
    /// A loop wakes it after the events that it has at hand.
    case wait(any EventLoop)
  }

  /// Maximum number of waiting bytes, as estimated. Further lines are dropped, and their number is written later.
  private static let limit = 4 << 20
  private static let lineFeed = UInt8(ascii: "\n")
  /// Number of bytes that a pipe takes without blocking if `poll` reports it as writable (POSIX `PIPE_BUF`).
  private static let piece = 4096
  /// Milliseconds after which a blocked thread checks whether the process is ending.
  private static let patience: Int32 = 250

  // Changed and used by the writer's thread alone, but for the first value.
  private let descriptor: Atomic<Int32>
  private let pool = NIOThreadPool(numberOfThreads: 1)
  private let state = Mutex(State())

  /// Makes a writer.
  ///
  /// - Parameter descriptor: where lines are written; not closed.
  public init(descriptor: Int32) {
    self.descriptor = Atomic(descriptor)
    pool.start()
  }

  deinit { pool.shutdownGracefully { _ in } }

  /// Writes the lines that are not written yet to another descriptor, and closes the one before.
  func replace(descriptor new: Int32) {
    // On the thread that writes, so that no line is written to a closed descriptor.
    pool.submit { _ in
      HTTPCacheLibC.close(self.descriptor.exchange(new, ordering: .relaxed))
      self.state.withLock { $0.isWithinLine = false }
    }
  }

  /// Adds a message that ends with a line feed, without control characters and within a screen: it may quote what a file,
  /// a client or an origin says.
  public func add(_ message: String) {
    let line = message.hasSuffix("\n") ? String(message.dropLast()) : message
    let text = line.bounded.printable + "\n"
    add(size: text.utf8.count) { text }
  }

  /// Adds a line that the writer's thread makes.
  ///
  /// - Parameters:
  ///   - size: about how many bytes the line takes until it is written.
  ///   - line: makes text that ends with a line feed.
  func add(size: Int, _ line: @escaping @Sendable () -> String) {
    let loop = MultiThreadedEventLoopGroup.currentEventLoop
    let next: Step? = state.withLock { state in
      guard state.size < Self.limit else {
        state.dropped += 1
        return nil
      }
      state.lines.append(line)
      state.size += size
      guard !state.isWriting else { return nil }
      // A line that another loop or thread adds does not wait for a loop that may be blocked.
      guard let loop, state.loop == nil || state.loop == ObjectIdentifier(loop) else {
        return state.start()
      }
      defer { state.loop = ObjectIdentifier(loop) }
      return state.loop == nil ? .wait(loop) : nil
    }
    switch next {
    case .start: pool.submit { _ in self.writeAll() }
    // Waking the thread costs more than a line does: a loop wakes it once for all events that it has at hand.
    case .wait(let loop): loop.execute { self.write() }
    case nil: break
    }
  }

  /// Wakes the thread, if there are lines and it does not write.
  private func write() {
    let next = state.withLock { $0.isWriting || $0.lines.isEmpty ? nil : $0.start() }
    if next != nil { pool.submit { _ in self.writeAll() } }
  }

  /// Waits until every line is written. If the descriptor takes no byte for a quarter of a second, drops the remaining
  /// lines.
  public func flush() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        guard state.isWriting || !state.lines.isEmpty else { return true }
        state.isEnding = true
        state.flushes.append(continuation)
        return false
      }
      // Does not wait for the loop that is to wake the thread.
      if isDone { continuation.resume() } else { write() }
    }
  }

  private func writeAll() {
    while let (lines, noted) = nextLines() {
      let start = state.withLock { $0.isWithinLine } ? 1 : 0
      // A line begins a line, also after half of another.
      let bytes = start == 0 ? lines : [Self.lineFeed] + lines
      var written = 0
      while written < bytes.count, let count = write(bytes[written...]) { written += count }
      let isWithinLine = written == 0 ? start == 1 : bytes[written - 1] != Self.lineFeed
      var lost = bytes[max(start, written)...].count(where: { $0 == Self.lineFeed })
      // The note is the last line: it was lost too, and its number counts again.
      if lost > 0, noted > 0 { lost += noted - 1 }
      let dropped = lost
      state.withLock { state in
        state.isWithinLine = isWithinLine
        state.dropped += dropped
      }
    }
  }

  /// The bytes of the waiting lines, and the number of dropped lines that the last of them notes; nil if no line waits.
  private func nextLines() -> (bytes: [UInt8], noted: Int)? {
    let (lines, size, dropped, flushes) = state.withLock { state in
      var lines = state.lines
      let size = state.size
      let dropped = state.dropped
      state.lines = []
      state.size = 0
      guard lines.isEmpty else {
        // Only after other lines: a note that cannot be written either would be tried without end.
        if dropped > 0 { lines.append { "httpcache: \(dropped) log lines dropped\n" } }
        state.dropped = 0
        return (lines, size, dropped, [CheckedContinuation<Void, Never>]())
      }
      defer { state.flushes = [] }
      state.isWriting = false
      state.isEnding = false
      return (lines, 0, 0, state.flushes)
    }
    for flush in flushes { flush.resume() }
    guard !lines.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for line in lines { bytes += line().utf8 }
    return (bytes, noted: dropped)
  }

  /// The number of bytes that the descriptor took; nil to drop the rest.
  private func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    let descriptor = descriptor.load(ordering: .relaxed)
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      switch poll(&entry, 1, Self.patience) {
      case 0: if state.withLock({ $0.isEnding }) { return nil }
      case ..<0: if errno != EINTR { return nil }
      default:
        let count = bytes.prefix(Self.piece).withUnsafeBytes {
          HTTPCacheLibC.write(descriptor, $0.baseAddress, $0.count)
        }
        if count >= 0 { return count }
        if errno != EINTR, errno != EAGAIN { return nil }
      }
    }
  }
}
