import NIOCore
import NIOHTTP1
import NIOPosix

/// Passes each request of a client on with the HTTP/1.1 codec of SwiftNIO; no request has content.
final class CodecClientHandler: ConnectionHandler, ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let originPort: Int
  private let idle: IdleConnections
  private var request: HTTPRequestHead?

  init(originPort: Int, idle: IdleConnections) {
    self.originPort = originPort
    self.idle = idle
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): request = head
    case .body: break
    case .end:
      guard var request else { return }
      request.headers.forward()
      if let origin = idle.take(CodecOriginHandler.self) { return origin.send(request, for: self) }
      let origin = CodecOriginHandler(idle: idle)
      let forwarded = request
      connect(
        to: originPort, context.eventLoop,
        adding: {
          try $0.addHTTPClientHandlers()
          try $0.addHandler(origin)
        }
      ) { origin.send(forwarded, for: self) }
    }
  }

  func write(_ part: HTTPServerResponsePart) {
    guard let context else { return }
    context.write(wrapOutboundOut(part), promise: nil)
    if case .end = part { context.flush() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Passes each response of the origin on.
final class CodecOriginHandler: ConnectionHandler, ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let idle: IdleConnections
  private var client: CodecClientHandler?

  init(idle: IdleConnections) { self.idle = idle }

  func send(_ request: HTTPRequestHead, for client: CodecClientHandler) {
    self.client = client
    context?.write(wrapOutboundOut(.head(request)), promise: nil)
    context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(var head):
      head.headers.forward()
      client?.write(.head(head))
    case .body(let body): client?.write(.body(.byteBuffer(body)))
    case .end:
      let client = client
      self.client = nil
      idle.add(self)
      client?.write(.end(nil))
    }
  }
}

extension HTTPHeaders {
  fileprivate mutating func forward() {
    remove(name: "Connection")
    add(name: "Via", value: "1.1 nio-proxy")
  }
}
