import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import Testing

/// `get` tries the statuses of HTTP/1.1 with real connections.
@Suite(.timeLimit(.minutes(10))) struct InvalidStatusTests {
  @Test(
    "over HTTP/2, a status that is not three digits from 100, or is 101, is an error (RFC 9113 §8.6)",
    arguments: ["", "-5", "20", "001", "2000", "+20", "101"])
  func http2(_ status: String) throws {
    let channel = try channel()
    #expect(throws: HTTPParserError.invalidStatus) { try channel.writeInbound(head(status)) }
    #expect(try channel.readInbound(as: HTTPClientResponsePart.self) == nil)
  }

  @Test("over HTTP/2, other statuses pass", arguments: ["102", "200", "204", "404", "999"])
  func http2Passes(_ status: String) throws {
    let channel = try channel()
    try channel.writeInbound(head(status))
    guard case .head(let head)? = try channel.readInbound(as: HTTPClientResponsePart.self) else {
      Issue.record("no head")
      return
    }
    #expect(String(head.status.code) == status)
  }

  private func head(_ status: String) -> HTTP2Frame.FramePayload {
    .headers(.init(headers: HPACKHeaders([(":status", status)])))
  }

  /// A stream as AsyncHTTPClient makes it, to the point where its configuration's initialiser is called.
  private func channel() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(handler: HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https))
    var configuration = HTTPClient.Configuration()
    configuration.failInvalidStatus()
    let isReady = configuration.http2StreamChannelDebugInitializer?(channel)
    channel.embeddedEventLoop.run()
    try isReady?.wait()
    try channel.writeOutbound(
      HTTPClientRequestPart.head(
        HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "example.com"])))
    return channel
  }
}
