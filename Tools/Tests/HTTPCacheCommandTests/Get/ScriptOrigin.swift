import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// An origin that computes its answers, and keeps the requests.
final class ScriptOrigin: Sendable {
  /// A request; its fields by name in lower case.
  struct Request: Sendable {
    let line: String
    let fields: [String: String]

    init(_ text: String) {
      let lines = text.split(separator: "\r\n").map(String.init)
      line = lines.first ?? ""
      fields = lines.dropFirst().reduce(into: [:]) { fields, line in
        guard let colon = line.firstIndex(of: ":") else { return }
        fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
      }
    }

    /// The first position of the requested range; nil without a range.
    var start: Int? {
      guard let range = fields["range"], range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
      return Int(range.dropFirst(6).dropLast())
    }
  }

  /// The response to send.
  struct Answer: Sendable {
    var head: String
    var body: [UInt8] = []
    /// Whether the connection stays open afterwards.
    var isHeld = false
    /// A file that must have bytes before the connection ends: a client may drop bytes that it has not read then.
    var awaitedFile: String?

    // A client must not send another request on a connection that ends now.
    var bytes: [UInt8] { Array((head + (isHeld ? "" : "\r\nConnection: close") + "\r\n\r\n").utf8) + body }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let answer: @Sendable (Request) -> Answer
    private var seen = ""

    init(_ answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      seen += String(buffer: unwrapInboundIn(data))
      guard seen.contains("\r\n\r\n") else { return }
      let answer = answer(Request(seen))
      seen = ""
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer.bytes)), promise: nil)
      if !answer.isHeld { Self.end(context.channel, after: answer.awaitedFile) }
    }

    private static func end(_ channel: any Channel, after file: String?) {
      var status = stat()
      guard let file, channel.isActive, stat(file, &status) != 0 || status.st_size == 0 else {
        return channel.close(promise: nil)
      }
      channel.eventLoop.scheduleTask(in: .milliseconds(10)) { end(channel, after: file) }
    }
  }

  private final class Log: Sendable {
    let requests = Mutex<[Request]>([])
  }

  let base: String
  private let channel: any Channel
  private let log: Log

  /// The requests so far.
  var requests: [Request] { log.requests.withLock { $0 } }

  /// - Parameter answer: the answer to a request.
  init(_ answer: @escaping @Sendable (Request) -> Answer) async throws {
    let log = Log()
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Handler { request in
              log.requests.withLock { $0.append(request) }
              return answer(request)
            })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    self.log = log
    base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  func close() async throws { try await channel.close() }
}

/// A file that an origin sends, with support for ranges.
struct ServedFile: Sendable {
  var content: [UInt8]
  var tag = "\"v1\""
  /// More fields, each with its end of line.
  var fields = ""
  /// The first octet that is not sent; the connection then ends.
  var cut: Int?
  /// Whether the connection is held instead.
  var isHeld = false
  /// For `Answer.awaitedFile`, where the body is cut.
  var awaitedFile: String?
  var hasRanges = true

  func answer(_ request: ScriptOrigin.Request) -> ScriptOrigin.Answer {
    var start = 0
    if hasRanges, let asked = request.start, request.fields["if-range"].map({ $0 == tag }) ?? true {
      start = asked
    }
    guard start < content.count else {
      return .init(head: "HTTP/1.1 416 No\r\nContent-Range: bytes */\(content.count)\r\nContent-Length: 0")
    }
    let range = start > 0 ? "\r\nContent-Range: bytes \(start)-\(content.count - 1)/\(content.count)" : ""
    let head =
      "HTTP/1.1 \(start > 0 ? "206 Part" : "200 OK")\r\nContent-Length: \(content.count - start)\(range)"
      + (tag.isEmpty ? "" : "\r\nETag: \(tag)") + (fields.isEmpty ? "" : "\r\n\(fields)")
    let end = max(start, min(cut ?? content.count, content.count))
    let isCut = end < content.count
    return .init(
      head: head, body: Array(content[start..<end]), isHeld: isHeld && isCut,
      awaitedFile: isCut ? awaitedFile : nil)
  }

  /// Bytes that differ from place to place.
  static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
  }
}
