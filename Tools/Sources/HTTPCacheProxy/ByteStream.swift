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
  /// How often a file is looked at while a part of it is being sent.
  private static let fileCheck = TimeAmount.milliseconds(250)

  private struct State {
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

  private enum End {
    case ended
    case failed(any Error)
  }

  private enum Step {
    case bytes(ByteBuffer, wantsMore: Bool)
    case end(End)
    case interrupted
    case wait
  }

  let channel: any Channel
  private let state = Mutex(State())

  init(channel: any Channel) { self.channel = channel }

  // MARK: Reading

  /// Which user of the stream may read; see `interrupt`.
  var epoch: Int { state.withLock { $0.epoch } }

  /// Whether there are bytes nobody has taken.
  var hasBytes: Bool { state.withLock { $0.buffered > 0 } }

  /// Whether the peer can send no more.
  var isEnded: Bool { state.withLock { $0.end != nil || $0.isClosed } }

  /// The next bytes, never empty; nil at the end.
  ///
  /// - Throws: `StreamError.timedOut` at `deadline`, `cancelled` after `interrupt` or when the task
  ///   is cancelled, `failed` when the transport failed.
  func read(until deadline: NIODeadline, epoch: Int? = nil) async throws(StreamError) -> ByteBuffer? {
    while true {
      let step = state.withLock { state -> Step in
        if let epoch, epoch != state.epoch { return .interrupted }
        if let first = state.buffers.popFirst() {
          state.buffered -= first.readableBytes
          let wantsMore = !state.isReading && state.end == nil && state.buffered < Self.window
          if wantsMore { state.isReading = true }
          return .bytes(first, wantsMore: wantsMore)
        }
        if let end = state.end { return .end(end) }
        return .wait
      }
      switch step {
      case .bytes(let buffer, let wantsMore):
        if wantsMore { channel.read() }
        return buffer
      case .end(.ended): return nil
      case .end(.failed(let error)): throw .failed(error)
      case .interrupted: throw .cancelled
      case .wait: break
      }
      if Task.isCancelled { throw .cancelled }
      if deadline <= .now() { throw .timedOut }
      await waitToRead(until: deadline, epoch: epoch)
    }
  }

  private func waitToRead(until deadline: NIODeadline, epoch: Int?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state -> (waits: Bool, reads: Bool) in
          if !state.buffers.isEmpty || state.end != nil || Task.isCancelled { return (false, false) }
          if let epoch, epoch != state.epoch { return (false, false) }
          state.reader = continuation
          state.readDeadline = deadline
          let reads = !state.isReading
          state.isReading = true
          return (true, reads)
        }
        guard waits.waits else { return continuation.resume() }
        if waits.reads { channel.read() }
        arm(deadline)
      }
    } onCancel: {
      wakeReader()
    }
  }

  /// Puts bytes back that were read and not used.
  func unread(_ buffer: ByteBuffer) {
    guard buffer.readableBytes > 0 else { return }
    state.withLock { state in
      state.buffers.prepend(buffer)
      state.buffered += buffer.readableBytes
    }
  }

  /// Calls off whoever reads with the present epoch.
  func interrupt() {
    state.withLock { $0.epoch += 1 }
    wakeReader()
  }

  private func wakeReader() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.readDeadline = nil
      return state.reader.take()
    }?.resume()
  }

  // MARK: Writing

  /// Hands bytes to the channel without sending them yet.
  func write(_ buffer: ByteBuffer) { channel.write(IOData.byteBuffer(buffer), promise: nil) }

  /// Sends a part of a file, and returns when the system has it all.
  ///
  /// - Parameter isWhole: whether all of the part is in the file still. What was cut off can never be
  ///   sent, and the system only ever says that nothing was.
  /// - Throws: `StreamError`. The file may be closed afterwards, whatever the end.
  func sendFile(
    _ region: FileRegion, until deadline: NIODeadline, while isWhole: @escaping @Sendable () -> Bool
  ) async throws(StreamError) {
    guard isWhole() else { throw .closed }
    let timer = channel.eventLoop.scheduleRepeatedTask(
      initialDelay: Self.fileCheck, delay: Self.fileCheck
    ) { [channel] _ in
      if deadline <= .now() || !isWhole() { channel.close(promise: nil) }
    }
    defer { timer.cancel() }
    do {
      try await withTaskCancellationHandler {
        try await channel.writeAndFlush(IOData.fileRegion(region))
      } onCancel: {
        channel.close(promise: nil)
      }
    } catch {
      throw .failed(error)
    }
  }

  /// Sends what was written and waits while the peer takes less than it is given.
  ///
  /// - Throws: `StreamError`.
  func flush(until deadline: NIODeadline) async throws(StreamError) {
    channel.flush()
    while !channel.isWritable {
      if state.withLock({ $0.isClosed }) { throw .closed }
      if Task.isCancelled { throw .cancelled }
      if deadline <= .now() { throw .timedOut }
      await waitToWrite(until: deadline)
    }
    if state.withLock({ $0.isClosed }) { throw .closed }
  }

  private func waitToWrite(until deadline: NIODeadline) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state -> Bool in
          if channel.isWritable || state.isClosed || Task.isCancelled { return false }
          state.writer = continuation
          state.writeDeadline = deadline
          return true
        }
        guard waits else { return continuation.resume() }
        arm(deadline)
      }
    } onCancel: {
      wakeWriter()
    }
  }

  private func wakeWriter() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.writeDeadline = nil
      return state.writer.take()
    }?.resume()
  }

  // MARK: Ending

  /// Tells the peer that nothing more will be sent.
  func finishOutput() { channel.close(mode: .output, promise: nil) }

  /// Closes the connection.
  func close() { channel.close(promise: nil) }

  /// Sends the end, then takes what the peer is still sending for a while, so that closing with
  /// unread bytes does not make the peer's system drop the answer (RFC 9112 §9.6).
  func closeLingering(for time: TimeAmount = .seconds(2), limit: Int = 4 << 20) async {
    finishOutput()
    let deadline = NIODeadline.now() + time
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

  // MARK: Time

  private func arm(_ deadline: NIODeadline) {
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
    let now = NIODeadline.now()
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

  // MARK: What the channel tells

  /// Whether the channel was asked to read and has not done so.
  var isAwaited: Bool { state.withLock { $0.isReading } }

  /// Bytes arrived.
  func received(_ buffer: ByteBuffer) {
    guard buffer.readableBytes > 0 else { return }
    let woken = state.withLock { state in
      state.buffers.append(buffer)
      state.buffered += buffer.readableBytes
      state.readDeadline = nil
      return (reader: state.reader.take(), watcher: state.watcher.take())
    }
    woken.reader?.resume()
    woken.watcher?()
  }

  /// The channel has read what it was asked to.
  ///
  /// - Returns: whether to read on.
  func readCompleted() -> Bool {
    state.withLock { state in
      let readsOn = state.end == nil && state.buffered < Self.window
      state.isReading = readsOn
      return readsOn
    }
  }

  /// The peer will send no more, or the transport failed.
  func ended(_ error: (any Error)? = nil) {
    let woken = state.withLock { state in
      if state.end == nil { state.end = error.map { .failed($0) } ?? .ended }
      state.readDeadline = nil
      return (reader: state.reader.take(), watcher: state.watcher.take())
    }
    woken.reader?.resume()
    woken.watcher?()
  }

  /// The channel is closed.
  func closed() {
    ended()
    let woken = state.withLock { state in
      state.isClosed = true
      state.writeDeadline = nil
      let timer = state.timer?.scheduled
      state.timer = nil
      return (writer: state.writer.take(), hook: state.closeHook.take(), timer: timer)
    }
    woken.timer?.cancel()
    woken.writer?.resume()
    woken.hook?()
  }

  /// The channel takes bytes again.
  func becameWritable() { wakeWriter() }
}
