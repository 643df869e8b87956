import NIOCore
import Synchronization

/// Feeds a `ByteStream` from its channel.
final class ByteStreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let stream: ByteStream
  private let hits: HitPath?

  /// - Parameter hits: answers requests before the stream gets their bytes.
  init(_ stream: ByteStream, hits: HitPath? = nil) {
    self.stream = stream
    self.hits = hits
  }

  func channelActive(context: ChannelHandlerContext) {
    // A read request from before the channel was active is lost.
    if stream.isAwaited { context.read() }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    if let hits, stream.isBetweenRequests,
      let answer = hits.answer(&buffer, write: { context.write(wrapOutboundOut($0), promise: nil) })
    {
      context.flush()
      if answer.isLast { hits.end(after: answer) } else { stream.answered() }
    }
    stream.received(buffer)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if stream.readCompleted() { context.read() }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { stream.wakeWriter() }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { stream.ended() }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    stream.ended(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stream.closed()
    context.fireChannelInactive()
  }
}

/// Events of the channel.
extension ByteStream {
  /// Whether the channel was asked to read and has not done so.
  var isAwaited: Bool { state.withLock { $0.isReading } }

  /// Bytes arrived.
  func received(_ buffer: ByteBuffer) {
    guard buffer.readableBytes > 0 else { return }
    let woken = state.withLock { state in
      state.buffers.append(buffer)
      state.buffered += buffer.readableBytes
      state.readDeadline = nil
      state.idleTimeout = nil
      return (reader: state.reader.take(), watcher: state.watcher.take())
    }
    woken.reader?.resume()
    woken.watcher?()
  }

  /// Whether the first byte of a request is awaited, and all earlier responses were sent.
  var isBetweenRequests: Bool { state.withLock { $0.idleTimeout != nil } }

  /// A request was answered without a task: the wait for the next one begins anew.
  func answered() {
    let now = now
    state.withLock { state in
      guard let timeout = state.idleTimeout, state.readDeadline != nil else { return }
      state.readDeadline = now + timeout
    }
  }

  /// No further request is awaited: nothing watches the connection any more.
  func endWait() {
    state.withLock { state in
      state.readDeadline = nil
      state.idleTimeout = nil
      state.watcher = nil
    }
  }

  /// The channel has finished a requested read.
  ///
  /// - Returns: whether to read more.
  func readCompleted() -> Bool {
    state.withLock { state in
      let readsOn = state.end == nil && state.buffered < window
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
    timeAbandoned()
  }

  /// The channel is closed.
  func closed() {
    ended()
    let woken = state.withLock { state in
      state.isClosed = true
      let waiting = state.waiting.take()?.timer
      state.writeDeadline = nil
      let timer = state.timer?.scheduled
      state.timer = nil
      return (writer: state.writer.take(), hook: state.closeHook.take(), timers: [timer, waiting])
    }
    for timer in woken.timers { timer?.cancel() }
    woken.writer?.resume()
    woken.hook?()
  }
}
