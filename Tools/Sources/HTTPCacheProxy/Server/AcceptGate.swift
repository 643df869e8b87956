import HTTPCacheLibC
import Logging
import NIOCore
import Synchronization

/// Pauses accepting while the process or the system is out of file descriptors or of memory for sockets.
///
/// The listening socket stays readable then. Without a pause the event loop would try again at once, for ever.
final class AcceptGate: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private static let pause = TimeAmount.milliseconds(200)

  private let notices: Notices
  private var isPaused = false

  init(_ notices: Notices) { self.notices = notices }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    notices.accepted()
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A client that is gone already says nothing about the next one.
    guard let error = error as? IOError, error.errnoCode != ECONNABORTED else {
      return context.fireErrorCaught(error)
    }
    notices.paused(SystemMessage.text(error.errnoCode))
    // NIO closes the socket after any other error, and `Listener` opens it again.
    guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
      return context.fireErrorCaught(error)
    }
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
}

extension AcceptGate {
  /// The messages of the log about pauses; one for all listeners of a server, which run out of descriptors together.
  final class Notices: Sendable {
    private let logger: Logger
    private let limit = MessageLimit()
    /// Whether the log has a message about a pause, but not yet about its end. Atomic, because each connection reads it.
    private let isTold = Atomic<Bool>(false)

    init(logger: Logger) { self.logger = logger }

    /// A connection was accepted.
    func accepted() {
      guard isTold.load(ordering: .relaxed), isTold.exchange(false, ordering: .acquiringAndReleasing) else {
        return
      }
      logger.notice("accepting connections again")
    }

    /// No connection can be accepted for a reason.
    func paused(_ reason: String) {
      guard limit.allows(reason) else { return }
      isTold.store(true, ordering: .releasing)
      logger.error("accepting no connections for now: \(reason); trying again until it works")
    }
  }
}
