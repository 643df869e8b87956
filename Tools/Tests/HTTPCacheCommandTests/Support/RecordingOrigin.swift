import NIOCore
import NIOPosix
import Synchronization
import Testing

/// An origin, or an HTTP proxy, that keeps the requests it gets. Each connection brings one request.
final class RecordingOrigin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let answer: (String) -> [UInt8]
    private var seen = ""

    init(_ answer: @escaping (String) -> [UInt8]) { self.answer = answer }

    /// The head has come, and the content that it tells of.
    private var isComplete: Bool {
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
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer(seen))), promise: nil)
      context.close(promise: nil)
    }
  }

  private final class Requests: Sendable {
    private let requests = Mutex<[String]>([])
    var all: [String] { requests.withLock { $0 } }

    /// Keeps a request, and returns how many there were before.
    func add(_ request: String) -> Int {
      requests.withLock {
        $0.append(request)
        return $0.count - 1
      }
    }
  }

  /// `127.0.0.1` and the port.
  let authority: String
  private let channel: any Channel
  private let kept: Requests

  /// - Parameter answer: makes the answer to a request, given the number of requests before.
  init(_ answer: @escaping @Sendable (String, Int) -> [UInt8]) async throws {
    let kept = Requests()
    self.kept = kept
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = Handler { request in answer(request, kept.add(request)) }
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    authority = "127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  /// An origin with one text for an answer.
  convenience init(_ answer: String) async throws { try await self.init { _, _ in Array(answer.utf8) } }

  /// Runs `body` with an origin that answers 200 with `ok`, and returns the requests that it got.
  static func requests(
    _ answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    of body: (RecordingOrigin) async throws -> Void
  ) async throws -> [String] {
    let origin = try await RecordingOrigin(answer)
    try await body(origin)
    try await origin.close()
    return origin.requests
  }

  /// Runs `get` with options and a path of an origin, and returns the requests that the origin got.
  static func requests(ofGet options: [String], path: String) async throws -> [String] {
    let directory = try TemporaryDirectory()
    return try await requests { origin in
      let run = await CommandRun(
        ["get", "--dir", directory.file("cache"), origin.authority + path] + options)
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  /// Requests in the order of their ends.
  var requests: [String] { kept.all }

  func close() async throws { try await channel.close() }
}
