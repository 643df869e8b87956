import AsyncHTTPClient
import HTTPCaching
import HTTPTypes
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import HTTPCacheAsyncHTTPClient

@Suite("Errors of an HTTP/2 connection end its requests at once (RFC 9113 §5.4.1)", .timeLimit(.minutes(10)))
struct HTTP2FailureTests {
  private static let status: [UInt8] = [0x88]
  private static func field(_ size: Int) -> [UInt8] {
    HTTP2Peer.block([("x-a", String(repeating: "~", count: size))])
  }

  private static let forms: [(String, @Sendable (UInt32) -> [[UInt8]])] = [
    ("a head of more than 16 KiB", { HTTP2Peer.head($0, status + field(20_000)) }),
    ("a large 103", { HTTP2Peer.head($0, [0x08, 3] + Array("103".utf8) + field(20_000)) }),
    (
      "large trailers",
      {
        HTTP2Peer.head($0, status) + [HTTP2Peer.frame(HTTP2Peer.data, stream: $0, payload: [65])]
          + HTTP2Peer.head($0, field(20_000))
      }
    ),
    (
      "a frame that is too long",
      { [HTTP2Peer.frame(HTTP2Peer.headers, flags: 4, stream: $0, payload: status + field(17_000))] }
    ),
    (
      "an index that is in no table",
      { [HTTP2Peer.frame(HTTP2Peer.headers, flags: 4, stream: $0, payload: [0x88, 0xFE])] }
    ),
    (
      "PUSH_PROMISE", { [HTTP2Peer.frame(5, flags: 4, stream: $0, payload: [0, 0, 0, 2, 0x82, 0x87, 0x84])] }
    ),
    (
      "CONTINUATION without HEADERS",
      { [HTTP2Peer.frame(HTTP2Peer.continuation, flags: 4, stream: $0, payload: status)] }
    ),
    ("DATA for the connection", { _ in [HTTP2Peer.frame(HTTP2Peer.data, payload: [65])] }),
    (
      "a window beyond the largest",
      { stream in
        [stream, 0].map {
          HTTP2Peer.frame(HTTP2Peer.windowUpdate, stream: $0, payload: [0x7F, 0xFF, 0xFF, 0xFF])
        }
      }
    ),
  ]

  @Test("with the reason, and not when their time is over", arguments: forms.indices)
  func ends(_ index: Int) async throws {
    let (name, answer) = Self.forms[index]
    let origin = try await ScriptedOrigin.frames(answer)
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = try TestCertificate.client()
    configuration.failConnectionErrors()
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let error = await #expect(throws: UpstreamError.self) {
      let upstream = AsyncHTTPClientUpstream(client: client)
      let head = HTTPRequest(method: .get, scheme: "https", authority: origin.authority, path: "/")
      let response = try await upstream.send(UpstreamRequest(head: head))
      do { _ = try await response.body.collect() } catch let error as UpstreamError { throw error }
    }
    #expect(error?.kind == .protocol, "\(name): \(String(describing: error))")
    try await client.shutdown()
  }

  @Test("§6.8: GOAWAY with an error is told from bodies that look like it, in one piece or in several")
  func goAway() throws {
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    let goAway = { (stream: UInt32, code: UInt8) in
      HTTP2Peer.frame(HTTP2Peer.goAway, stream: stream, payload: [0, 0, 0, 0, 0, 0, 0, code])
    }
    let failure = goAway(0, 1)
    let data = HTTP2Peer.frame(HTTP2Peer.data, stream: 1, payload: failure)
    let forms: [(pieces: [[UInt8]], hasFailed: Bool)] = [
      ([preface, failure], true), ([preface + HTTP2Peer.frame(HTTP2Peer.settings), failure], true),
      ([goAway(0, 0)], false), ([goAway(1, 1)], false),
      ([Array(data.prefix(9)), failure], false), ([data], false),
      ([Array(data.prefix(9)), Array(failure.prefix(5)), Array(failure.dropFirst(5))], false),
      ([Array(data.prefix(9)), failure, failure], true), ([data + failure], true),
    ]
    for (index, form) in forms.enumerated() {
      let watcher = HTTP2FailureHandler.GoAwayWatcher()
      let channel = EmbeddedChannel(handler: watcher)
      for piece in form.pieces { try channel.writeOutbound(IOData.byteBuffer(ByteBuffer(bytes: piece))) }
      #expect(watcher.hasFailed == form.hasFailed, "\(index)")
      _ = try channel.finish(acceptAlreadyClosed: true)
    }
  }
}
