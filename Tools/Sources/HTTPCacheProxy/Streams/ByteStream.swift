import HTTPCacheLibC
import NIOCore
import NIOSSL
import Synchronization

/// The bytes of a connection, read and written by tasks on any thread, with backpressure in both directions.
///
/// At most one task reads and one task waits to write at a time.
final class ByteStream: Sendable {
  /// Reading continues while fewer unread bytes than this are waiting. A stream of HTTP/2 has a window of its own before.
  static let (window, windowOfHTTP2) = (96 << 10, 16 << 10)
  /// Maximum number of bytes to copy for the channel at once; a quarter of it for a stream of HTTP/2. With the channel's
  /// water mark, at most twice this number waits in the process for a peer that does not read.
  static let slice = 64 << 10

  struct State {
    var buffers = CircularBuffer<ByteBuffer>(initialCapacity: 4)
    var buffered = 0
    /// The reason why no more bytes will arrive.
    var end: End?
    var isReading = false
    var isClosed = false
    /// How long the connection may stay open from each answer on; nil while a request has begun.
    var idleTimeout: TimeAmount?
    var epoch = 0
    var reader: CheckedContinuation<Void, Never>?
    var writer: CheckedContinuation<Void, Never>?
    var readDeadline: NIODeadline?
    var writeDeadline: NIODeadline?
    var timer: (deadline: NIODeadline, scheduled: Scheduled<Void>)?
    var watcher: (@Sendable () -> Void)?
    var closeHook: (@Sendable () -> Void)?
    var waiting: Waiting?
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
  let window: Int
  let state = Mutex(State())
  private let busy = Atomic<Bool>(false)

  /// Whether a client's request on this connection has begun and not ended.
  var isBusy: Bool {
    get { busy.load(ordering: .sequentiallyConsistent) }
    set { busy.store(newValue, ordering: .sequentiallyConsistent) }
  }

  init(channel: any Channel, window: Int = ByteStream.window) {
    self.channel = channel
    self.window = window
  }

  /// The time of the channel's event loop.
  var now: NIODeadline { channel.eventLoop.now }

  // MARK: Ending

  /// Ends the output: tells the peer that no more bytes follow.
  func finishOutput() { channel.close(mode: .output, promise: nil) }

  /// Closes the connection.
  func close() { channel.close(promise: nil) }

  /// Closes the connection after the system has all written bytes. Closing at once would drop bytes in the channel.
  ///
  /// - Parameter patience: maximum time for the peer to take the bytes.
  func closeWritten(within patience: TimeAmount) async {
    try? await writeOut(until: now + patience)
    close()
  }

  /// Ends the output, then reads and drops the peer's bytes for a while: closing with unread bytes could make the
  /// peer's system drop the response (RFC 9112 §9.6).
  ///
  /// - Parameter patience: maximum time for the peer to take the written bytes.
  func closeLingering(
    within patience: TimeAmount, for time: TimeAmount = .seconds(2), limit: Int = 4 << 20
  ) async {
    // If the peer has ended its output, ending ours closes the connection and drops unwritten bytes.
    try? await writeOut(until: now + patience)
    finishOutput()
    let deadline = now + time
    var taken = 0
    while taken < limit, let bytes = try? await read(until: deadline) { taken += bytes.readableBytes }
    close()
  }

  /// Calls `hook` once when the connection is closed; at once if the connection is closed already. It replaces the hook
  /// that was there.
  func onClose(_ hook: (@Sendable () -> Void)?) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.closeHook = hook }
      return state.isClosed
    }
    if isClosed { hook?() }
  }

  /// Calls `watcher` once, on the first event of an idle connection or at `deadline`.
  ///
  /// - Returns: false if an event has happened already; then `watcher` is not called.
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
  /// - Returns: false if an event has happened, so that the connection cannot be used again.
  func unwatch() -> Bool {
    state.withLock { state in
      state.readDeadline = nil
      return state.watcher.take() != nil && state.end == nil && !state.isClosed && state.buffered == 0
    }
  }
}

/// One timer for the earliest deadline.
extension ByteStream {
  func arm(_ deadline: NIODeadline) {
    guard deadline < .distantFuture else { return }
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

/// Operations on the socket below the channel.
extension ByteStream {
  /// Resets the connection, so that the peer sees that the response is incomplete.
  func reset() {
    // Bytes that wait for the next flush would be lost, the head included.
    channel.flush()
    resetsOnClose(true).whenComplete { [channel] _ in
      // A TLS close would tell the peer that the response is complete.
      if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
        tls.close(mode: .all, promise: nil)
      } else {
        channel.close(promise: nil)
      }
    }
  }

  /// Whether closing resets the connection, also when the process is killed.
  @discardableResult
  func resetsOnClose(_ resets: Bool) -> EventLoopFuture<Void> {
    // A linger time of 0 makes closing a reset.
    (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: resets ? 1 : 0, l_linger: 0))
      ?? channel.eventLoop.makeSucceededVoidFuture()
  }
}

/// The reason why a connection delivered or took no bytes.
enum StreamError: Error, Sendable {
  /// The connection is closed.
  case closed
  /// The time limit has passed.
  case timedOut
  /// Reading was cancelled.
  case cancelled
  /// The transport failed.
  case failed(any Error)

  /// Swift 6.3 crashes when it compiles a `catch` with this pattern in a function that throws another error.
  var isClosed: Bool { if case .closed = self { true } else { false } }
}
