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
  private static let forms: [(String, @Sendable (UInt32) -> [UInt8])] = [
    ("a head of more than 16 KiB", { RawHTTP2Origin.head($0, RawHTTP2Origin.block(size: 20_000)) }),
    (
      "a large 103",
      {
        RawHTTP2Origin.head(
          $0, [0x08, 3] + Array("103".utf8) + RawHTTP2Origin.block(size: 20_000).dropFirst())
      }
    ),
    (
      "large trailers",
      {
        RawHTTP2Origin.head($0, [0x88]) + RawHTTP2Origin.frame(0, 0, $0, [65])
          + RawHTTP2Origin.head($0, Array(RawHTTP2Origin.block(size: 20_000).dropFirst()))
      }
    ),
    ("a frame that is too long", { RawHTTP2Origin.frame(1, 4, $0, RawHTTP2Origin.block(size: 17_000)) }),
    ("an index that is in no table", { RawHTTP2Origin.frame(1, 4, $0, [0x88, 0xFE]) }),
    ("PUSH_PROMISE", { RawHTTP2Origin.frame(5, 4, $0, [0, 0, 0, 2, 0x82, 0x87, 0x84]) }),
    ("CONTINUATION without HEADERS", { RawHTTP2Origin.frame(9, 4, $0, [0x88]) }),
    ("DATA for the connection", { _ in RawHTTP2Origin.frame(0, 0, 0, [65]) }),
    (
      "a window beyond the largest",
      {
        RawHTTP2Origin.frame(8, 0, $0, [0x7F, 0xFF, 0xFF, 0xFF])
          + RawHTTP2Origin.frame(8, 0, 0, [0x7F, 0xFF, 0xFF, 0xFF])
      }
    ),
  ]

  @Test("with the reason, and not when their time is over", arguments: forms.indices)
  func ends(_ index: Int) async throws {
    let (name, answer) = Self.forms[index]
    let origin = try await RawHTTP2Origin(answer)
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = try TestCertificate.client()
    configuration.failConnectionErrors()
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let error = await #expect(throws: UpstreamError.self) {
      let upstream = AsyncHTTPClientUpstream(client: client)
      let authority = String(origin.base.dropFirst("https://".count))
      let response = try await upstream.send(
        UpstreamRequest(head: HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/")))
      do { _ = try await response.body.collect() } catch let error as UpstreamError { throw error }
    }
    #expect(error?.kind == .protocol, "\(name): \(String(describing: error))")
    try await client.shutdown()
    try await origin.close()
  }

  @Test("§6.8: GOAWAY with an error is told from bodies that look like it, in one piece or in several")
  func goAway() throws {
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    let failure = RawHTTP2Origin.frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0, 1])
    let data = RawHTTP2Origin.frame(0, 0, 1, failure)
    let forms: [(pieces: [[UInt8]], hasFailed: Bool)] = [
      ([preface, failure], true), ([preface + RawHTTP2Origin.frame(4, 0, 0, []), failure], true),
      ([RawHTTP2Origin.frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])], false),
      ([RawHTTP2Origin.frame(7, 0, 1, [0, 0, 0, 0, 0, 0, 0, 1])], false),
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
