import NIOCore
import NIOHTTP1

/// Answers the requests of one connection to the demo's origin.
final class DemoHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let bodies: [DemoResource: ByteBuffer]
  private let meter: DemoOrigin.Meter
  private var head: HTTPRequestHead?
  private var block = ByteBuffer()
  private var blocksLeft = 0
  private var isAnswering = false
  private var isSending = false

  init(bodies: [DemoResource: ByteBuffer], meter: DemoOrigin.Meter) {
    self.bodies = bodies
    self.meter = meter
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end: answer(context)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    sendBlocks(context)
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func answer(_ context: ChannelHandlerContext) {
    guard let head else { return }
    meter.addRequest()
    isAnswering = true
    guard let resource = DemoResource(rawValue: head.uri), let body = bodies[resource] else {
      send(.notFound, fields: ["Content-Length": "0"], to: context)
      return sendBlocks(context)
    }
    var fields = resource.fields
    if let tag = fields.first(name: "ETag"),
      head.headers[canonicalForm: "If-None-Match"].contains(where: { $0 == tag })
    {
      send(.notModified, fields: fields, to: context)
      return sendBlocks(context)
    }
    fields.add(name: "Content-Length", value: "\(body.readableBytes * resource.repetitions)")
    send(.ok, fields: fields, to: context)
    if head.method != .HEAD {
      block = body
      blocksLeft = resource.repetitions
    }
    sendBlocks(context)
  }

  private func send(
    _ status: HTTPResponseStatus, fields: HTTPHeaders, to context: ChannelHandlerContext
  ) {
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))),
      promise: nil)
  }

  /// Sends while the connection takes bytes, and continues when the connection is writable again.
  private func sendBlocks(_ context: ChannelHandlerContext) {
    // Writing may change writability, which calls this again.
    guard isAnswering, !isSending else { return }
    isSending = true
    // A closed channel reports that it is writable, and drops what is written.
    while blocksLeft > 0, context.channel.isActive, context.channel.isWritable {
      blocksLeft -= 1
      meter.add(block.readableBytes)
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(block))), promise: nil)
    }
    isSending = false
    if blocksLeft == 0 {
      isAnswering = false
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
