import Logging
import NIOCore
import NIOHTTP1

/// Answers one request on a connection of the admin listener, and closes the connection.
final class AdminHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

  private static let largestBody = 64 << 10

  private let access: AdminAccess
  private let registry: ConnectionRegistry
  private let logger: Logger
  private let refusals: MessageLimit
  private let answer: @Sendable (AdminRequest) async -> AdminResponse
  private var head: HTTPRequestHead?
  private var bodyBytes = 0
  /// Whether the request has come: what follows it is dropped. NIO hands over the next request as soon as the answer is
  /// written, and before the connection is closed: a purge would be done twice.
  private var isOver = false
  private var timer: Scheduled<Void>?

  init(
    access: AdminAccess, registry: ConnectionRegistry, logger: Logger, refusals: MessageLimit,
    answer: @escaping @Sendable (AdminRequest) async -> AdminResponse
  ) {
    self.access = access
    self.registry = registry
    self.logger = logger
    self.refusals = refusals
    self.answer = answer
  }

  func channelActive(context: ChannelHandlerContext) {
    closeLater(context.channel)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let bytes):
      bodyBytes += bytes.readableBytes
      guard bodyBytes > Self.largestBody, let head else { return }
      isOver = true
      let refusal = AdminResponse(
        status: 413, body: "413: the body is longer than \(Self.largestBody) bytes\n")
      AdminReply(request: request(head), channel: context.channel, logger: logger, refusals: refusals).send(
        refusal)
    case .end:
      isOver = true
      if let head { respond(to: head, context.channel) }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError, !isOver else { return context.close(promise: nil) }
    isOver = true
    let request = AdminRequest(method: "GET", target: "/", hasToken: false)
    AdminReply(request: request, channel: context.channel, logger: logger, refusals: refusals)
      .send(AdminResponse(status: 400, body: "400: the request is malformed\n"))
  }

  private func respond(to head: HTTPRequestHead, _ channel: any Channel) {
    let request = request(head)
    let reply = AdminReply(request: request, channel: channel, logger: logger, refusals: refusals)
    let hosts = head.headers["Host"]
    if hosts.count > 1 {
      return reply.send(AdminResponse(status: 400, body: "400: more than one Host (RFC 9112 §3.2)\n"))
    }
    if let refusal = access.refusal(of: request, host: hosts.first) {
      return reply.send(refusal)
    }
    timer?.cancel()
    let (answer, registry) = (answer, registry)
    registry.serve(channel, by: ChannelConnection(channel, isHTTP2: false, isBusy: true))
    Task {
      let response = await answer(request)
      if response.rest != nil {
        // Such an answer may never end: the end of the server must not wait for it.
        registry.serve(channel, by: ChannelConnection(channel, isHTTP2: false))
        guard !registry.isDraining else { return channel.close(promise: nil) }
      }
      reply.send(response)
    }
  }

  private func request(_ head: HTTPRequestHead) -> AdminRequest {
    AdminRequest(
      method: head.method.rawValue, target: head.uri,
      hasToken: access.hasToken(head.headers.first(name: "Authorization")))
  }

  private func closeLater(_ channel: any Channel) {
    timer = channel.eventLoop.scheduleTask(in: AdminReply.patience) { channel.close(promise: nil) }
  }
}
