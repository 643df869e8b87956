import NIOCore
import NIOPosix

/// Passes each request of a client on as bytes.
final class ByteClientHandler: ConnectionHandler, ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let originPort: Int
  private let idle: IdleConnections
  private var received = ByteBuffer()

  init(originPort: Int, idle: IdleConnections) {
    self.originPort = originPort
    self.idle = idle
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if received.readableBytes > 0 { received.writeBuffer(&bytes) } else { received = bytes }
    guard received.headLength != nil else { return }
    let request = received
    received = ByteBuffer()
    if let origin = idle.take(ByteOriginHandler.self) { return origin.send(request, for: self) }
    let origin = ByteOriginHandler(idle: idle)
    connect(to: originPort, context.eventLoop, adding: { try $0.addHandler(origin) }) {
      origin.send(request, for: self)
    }
  }

  func write(_ bytes: ByteBuffer) { context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Passes each response of the origin on as bytes.
final class ByteOriginHandler: ConnectionHandler, ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let idle: IdleConnections
  private var client: ByteClientHandler?
  private var received = ByteBuffer()
  /// The bytes of the response that have not come; nil before its head has.
  private var rest: Int?

  init(idle: IdleConnections) { self.idle = idle }

  func send(_ request: ByteBuffer, for client: ByteClientHandler) {
    self.client = client
    context?.writeAndFlush(wrapOutboundOut(request), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if rest == nil {
      if received.readableBytes > 0 { received.writeBuffer(&bytes) } else { received = bytes }
      guard let length = received.headLength else { return }
      bytes = received
      received = ByteBuffer()
      rest = length + bytes.contentLength(within: length)
    }
    rest = rest.map { $0 - bytes.readableBytes }
    let client = client
    if rest == 0 {
      rest = nil
      self.client = nil
      idle.add(self)
    }
    client?.write(bytes)
  }
}

/// Connects to the origin.
func connect(
  to port: Int, _ loop: any EventLoop,
  adding: @escaping (ChannelPipeline.SynchronousOperations) throws -> Void, then: @escaping () -> Void
) {
  let (adding, then) = (NIOLoopBound(adding, eventLoop: loop), NIOLoopBound(then, eventLoop: loop))
  ClientBootstrap(group: loop)
    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
    .channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try adding.value(channel.pipeline.syncOperations) }
    }
    .connect(host: "127.0.0.1", port: port)
    .whenSuccess { _ in then.value() }
}

extension ByteBuffer {
  /// The number of bytes up to the end of the empty line; nil if it has not come.
  fileprivate var headLength: Int? {
    withUnsafeReadableBytes { bytes in
      var place = 0
      while let lineFeed = bytes[place...].firstIndex(of: 0x0A) {
        if lineFeed + 2 < bytes.count, bytes[lineFeed + 1] == 0x0D, bytes[lineFeed + 2] == 0x0A {
          return lineFeed + 3
        }
        place = lineFeed + 1
      }
      return nil
    }
  }

  /// The value of `Content-Length` in a head of this length; 0 without the field.
  fileprivate func contentLength(within length: Int) -> Int {
    let name = Array("content-length:".utf8)
    return withUnsafeReadableBytes { bytes in
      var line = 0
      while line + name.count < length {
        if zip(bytes[line...], name).allSatisfy({ $0 | 0x20 == $1 }) {
          return bytes[(line + name.count)...].drop { $0 == 0x20 }.prefix { (0x30...0x39).contains($0) }
            .reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        guard let end = bytes[line..<length].firstIndex(of: 0x0A) else { return 0 }
        line = end + 1
      }
      return 0
    }
  }
}
