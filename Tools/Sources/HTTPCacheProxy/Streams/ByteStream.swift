import NIOCore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A connection's bytes, read and written by tasks on whatever thread, with backpressure both ways.
///
/// At most one task reads and one task waits to write at a time.
final class ByteStream: Sendable {
  /// Reading goes on while fewer bytes than this wait to be taken.
  static let window = 96 << 10
  /// The most bytes that are copied for the channel at once. Together with the channel's water mark, no more than
  /// twice as many wait in the process for a peer that does not read.
  static let slice = 64 << 10

  struct State {
    var buffers = CircularBuffer<ByteBuffer>(initialCapacity: 4)
    var buffered = 0
    /// Why nothing more will arrive.
    var end: End?
    var isReading = false
    var isClosed = false
    var epoch = 0
    var reader: CheckedContinuation<Void, Never>?
    var writer: CheckedContinuation<Void, Never>?
    var readDeadline: NIODeadline?
    var writeDeadline: NIODeadline?
    var timer: (deadline: NIODeadline, scheduled: Scheduled<Void>)?
    var watcher: (@Sendable () -> Void)?
    var closeHook: (@Sendable () -> Void)?
  }

  enum End {
    case ended
    case failed(any Error)
  }

  enum Step {
    case bytes(ByteBuffer, wantsMore: Bool)
    case end(End)
    case interrupted
    case wait
  }

  let channel: any Channel
  let state = Mutex(State())

  init(channel: any Channel) { self.channel = channel }

  /// The time of the channel's event loop.
  var now: NIODeadline { channel.eventLoop.now }

  // MARK: Ending

  /// Tells the peer that nothing more will be sent.
  func finishOutput() { channel.close(mode: .output, promise: nil) }

  /// Closes the connection.
  func close() { channel.close(promise: nil) }

  /// Closes the connection when the system has all that was written: closing drops what the channel still holds.
  ///
  /// - Parameter patience: the most time that the peer may take for that.
  func closeWritten(within patience: TimeAmount) async {
    try? await writeOut(until: now + patience)
    close()
  }

  /// Sends the end, then takes what the peer is still sending for a while, so that closing with
  /// unread bytes does not make the peer's system drop the answer (RFC 9112 §9.6).
  ///
  /// - Parameter patience: the most time that the peer may take for what was written before.
  func closeLingering(
    within patience: TimeAmount, for time: TimeAmount = .seconds(2), limit: Int = 4 << 20
  ) async {
    // If the peer has ended its side, ending ours closes the connection, and drops what is not written.
    try? await writeOut(until: now + patience)
    finishOutput()
    let deadline = now + time
    var taken = 0
    while taken < limit, let bytes = try? await read(until: deadline) { taken += bytes.readableBytes }
    close()
  }

  /// Calls `hook` once, when the connection is closed; at once if it is.
  func onClose(_ hook: @escaping @Sendable () -> Void) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.closeHook = hook }
      return state.isClosed
    }
    if isClosed { hook() }
  }

  /// Calls `watcher` once, when anything happens on an idle connection, or at `deadline`.
  ///
  /// - Returns: false if something has happened already; then it is not called.
  func watch(until deadline: NIODeadline, _ watcher: @escaping @Sendable () -> Void) -> Bool {
    let watches = state.withLock { state -> (watches: Bool, reads: Bool) in
      guard state.end == nil, !state.isClosed, state.buffered == 0 else { return (false, false) }
      state.watcher = watcher
      state.readDeadline = deadline
      let reads = !state.isReading
      state.isReading = true
      return (true, reads)
    }
    guard watches.watches else { return false }
    if watches.reads { channel.read() }
    arm(deadline)
    return true
  }

  /// Ends watching.
  ///
  /// - Returns: false if something has happened, so that the connection is of no more use.
  func unwatch() -> Bool {
    state.withLock { state in
      state.readDeadline = nil
      return state.watcher.take() != nil && state.end == nil && !state.isClosed && state.buffered == 0
    }
  }
}
