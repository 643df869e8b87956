import Foundation
package import NIOCore
import NIOPosix
package import NIOSSL
import NIOTLS
import Synchronization

/// An origin, or a proxy, on 127.0.0.1 whose answers a test computes. It keeps the requests over HTTP/1.1, and is closed
/// with its last user.
package final class ScriptedOrigin: Sendable {
  /// A request.
  package struct Request: Sendable {
    /// Its head and its content.
    package let text: String
    /// The number of requests before.
    package let number: Int
    /// The number of requests before on the same connection.
    package let numberOnConnection: Int
    /// The request line.
    package let line: String
    /// The fields by name in lower case.
    package let fields: [String: String]

    fileprivate init(_ text: String, number: Int, numberOnConnection: Int) {
      (self.text, self.number, self.numberOnConnection) = (text, number, numberOnConnection)
      let lines = text.split(separator: "\r\n").map(String.init)
      line = lines.first ?? ""
      fields = lines.dropFirst().reduce(into: [:]) { fields, line in
        guard let colon = line.firstIndex(of: ":") else { return }
        fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
      }
    }

    /// The first position of the requested range; nil without a range.
    package var start: Int? {
      guard let range = fields["range"], range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
      return Int(range.dropFirst(6).dropLast())
    }
  }

  /// The bytes to send.
  package struct Answer: Sendable {
    package var bytes: [UInt8]
    /// Whether the connection stays open afterwards.
    package var isHeld = false
    /// A file that must have bytes before the connection ends: a client may drop bytes that it has not read then.
    package var awaitedFile: String?

    package init(bytes: some Sequence<UInt8>, isHeld: Bool = false) {
      self.bytes = Array(bytes)
      self.isHeld = isHeld
    }

    /// - Parameter head: a status line and fields, without the end of the last line.
    package init(head: String, body: [UInt8] = [], isHeld: Bool = false, awaitedFile: String? = nil) {
      // A client must not send another request on a connection that ends now.
      self.init(bytes: (head + (isHeld ? "" : "\r\nConnection: close") + "\r\n\r\n").utf8, isHeld: isHeld)
      bytes += body
      self.awaitedFile = awaitedFile
    }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let log: Log
    private let answer: @Sendable (Request) async -> Answer?
    private var seen = ""
    private var count = 0
    /// Whether the bytes are those of another protocol, which are requests as they come.
    private var isUpgraded = false

    init(_ log: Log, _ answer: @escaping @Sendable (Request) async -> Answer?) {
      (self.log, self.answer) = (log, answer)
    }

    /// The head has come, and the content that it tells of; or the first record of TLS.
    private var isComplete: Bool {
      if isUpgraded || seen.utf8.first == 0x16 { return true }
      guard let end = seen.firstRange(of: "\r\n\r\n") else { return false }
      let head = seen[..<end.lowerBound].lowercased()
      if head.contains("transfer-encoding: chunked") { return seen.hasSuffix("0\r\n\r\n") }
      guard let field = head.firstRange(of: "content-length: ") else { return true }
      let length = Int(head[field.upperBound...].prefix(while: \.isNumber)) ?? 0
      return seen[end.upperBound...].utf8.count >= length
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      seen += String(buffer: unwrapInboundIn(data))
      guard isComplete else { return }
      let request = log.add(seen, numberOnConnection: count)
      count += 1
      seen = ""
      isUpgraded = isUpgraded || request.fields["upgrade"] != nil
      Task { [answer, channel = context.channel] in
        guard let reply = await answer(request) else { return }
        channel.writeAndFlush(ByteBuffer(bytes: reply.bytes), promise: nil)
        if !reply.isHeld { Handler.end(channel, after: reply.awaitedFile) }
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private static func end(_ channel: any Channel, after file: String?) {
      let attributes = file.flatMap { try? FileManager.default.attributesOfItem(atPath: $0) }
      guard let file, channel.isActive, (attributes?[.size] as? Int ?? 0) == 0 else {
        return channel.close(promise: nil)
      }
      channel.eventLoop.scheduleTask(in: .milliseconds(10)) { end(channel, after: file) }
    }
  }

  private final class Log: Sendable {
    let requests = Mutex<[Request]>([])
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)

    func add(_ text: String, numberOnConnection: Int) -> Request {
      defer { arrived.yield() }
      return requests.withLock {
        $0.append(Request(text, number: $0.count, numberOnConnection: numberOnConnection))
        return $0[$0.count - 1]
      }
    }
  }

  /// The address, by default `127.0.0.1`, or `localhost` for TLS, and the port.
  package let authority: String
  private let isSecure: Bool
  private let channel: any Channel
  private let log: Log

  /// - Parameters:
  ///   - address: an IPv4 or IPv6 address of this machine.
  ///   - tls: its configuration of TLS; nil for none.
  ///   - http2: adds the handlers of a connection over HTTP/2, and gets what to call when a request has arrived.
  ///   - answer: the answer to a request over HTTP/1.1; nil never answers.
  package init(
    at address: String = "127.0.0.1", tls: TLSConfiguration? = nil,
    http2: (@Sendable (any Channel, @escaping @Sendable () -> Void) throws -> Void)? = nil,
    _ answer: @escaping @Sendable (Request) async -> Answer?
  ) async throws {
    let context = try tls.map { try NIOSSLContext(configuration: $0) }
    let log = Log()
    self.log = log
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let context else {
            return try channel.pipeline.syncOperations.addHandler(Handler(log, answer))
          }
          let choice = NIOTypedApplicationProtocolNegotiationHandler<Void> { result, channel in
            channel.eventLoop.makeCompletedFuture {
              if let http2, result == .negotiated("h2") {
                return try http2(channel) { log.arrived.yield() }
              }
              try channel.pipeline.syncOperations.addHandler(Handler(log, answer))
            }
          }
          try channel.pipeline.syncOperations.addHandlers([NIOSSLServerHandler(context: context), choice])
        }
      }
      .bind(host: address, port: 0).get()
    isSecure = tls != nil
    let host = isSecure ? "localhost" : address.contains(":") ? "[\(address)]" : address
    authority = "\(host):\(channel.localAddress?.port ?? 0)"
  }

  deinit { channel.close(promise: nil) }

  /// An origin that answers with bytes, and closes the connection.
  package convenience init(bytes: [UInt8]) async throws { try await self.init { _ in Answer(bytes: bytes) } }

  /// An origin that answers with the next of some texts, and closes the connection; the last one goes on.
  package convenience init(_ first: String, _ later: String...) async throws {
    let answers = [first] + later
    try await self.init { Answer(bytes: answers[min($0.number, answers.count - 1)].utf8) }
  }

  /// An origin that closes each connection after its answer.
  ///
  /// - Parameter bytes: the answer to the text of a request, given the number of requests before.
  package convenience init(bytes: @escaping @Sendable (String, Int) -> [UInt8]) async throws {
    try await self.init { Answer(bytes: bytes($0.text, $0.number)) }
  }

  /// The URL of the origin, without a path.
  package var base: String { "http\(isSecure ? "s" : "")://\(authority)" }

  /// The port.
  package var port: Int { channel.localAddress?.port ?? 0 }

  /// The requests in the order of their ends.
  package var requests: [Request] { log.requests.withLock { $0 } }

  /// The texts of the requests.
  package var texts: [String] { requests.map(\.text) }

  /// Waits for a request that this function has not returned for before.
  package func arrived() async { _ = await log.arrivals.first { _ in true } }

  /// Accepts no more connections.
  package func close() async throws { try await channel.close() }
}
