import Logging
import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Pauses accepting while the process or the system is out of file descriptors or of memory for sockets.
///
/// The listening socket stays readable then. Without a pause the event loop would try again at once, for ever.
final class AcceptGate: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private static let pause = TimeAmount.milliseconds(200)
  private static let silence = TimeAmount.minutes(1)

  private let logger: Logger
  private var isPaused = false
  /// Whether the log has a message about the pause, but not yet about its end.
  private var isTold = false
  private var lastTold: NIODeadline?

  init(logger: Logger) { self.logger = logger }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isTold { logger.notice("accepting connections again") }
    isTold = false
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
      return context.fireErrorCaught(error)
    }
    tell(error)
    guard !isPaused else { return }
    isPaused = true
    // Only a channel option removes the socket from the selector: NIO treats a failed read as pending.
    let options = context.channel.syncOptions
    try? options?.setOption(.autoRead, value: false)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
      self.isPaused = false
      try? options?.setOption(.autoRead, value: true)
    }
  }

  private func tell(_ error: IOError) {
    let now = NIODeadline.now()
    if let lastTold, now - lastTold < Self.silence { return }
    lastTold = now
    isTold = true
    logger.error(
      "accepting no connections for now: \(SystemMessage.text(error.errnoCode)); trying again until it works")
  }
}
