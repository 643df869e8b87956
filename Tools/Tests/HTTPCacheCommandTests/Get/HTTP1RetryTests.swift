import AsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import NIOHTTP2
import Synchronization
import Testing

@testable import HTTPCacheCommand

@Suite("Requests that are sent once more over HTTP/1.1", .timeLimit(.minutes(10))) struct HTTP1RetryTests {
  @Test(
    "a redirect whose Location has lost octets over HTTP/2 is asked for again if the request may be repeated",
    arguments: [
      (302, "/caf\u{FFFD}", .get, true), (302, "/caf\u{e9}", .get, false),
      (302, "/caf\u{FFFD}", .post, false), (201, "/caf\u{FFFD}", .put, false),
    ] as [(Int, String, HTTPRequest.Method, Bool)])
  func lostOctets(
    _ status: Int, _ location: String, _ method: HTTPRequest.Method, _ isRepeated: Bool
  ) async throws {
    let base = ScriptedUpstream([
      ScriptedResponse(status: status, headers: ["Location": location], body: "moved")
    ])
    let http1 = ScriptedUpstream([ScriptedResponse(status: status, headers: ["Location": "/caf%E9"])])
    let head = HTTPRequest(method: method, scheme: "https", authority: "a.example", path: "/")
    let response = try await HTTP1Retry(base: base, http1: http1).send(UpstreamRequest(head: head))
    #expect(response.head.headerFields[.location] == (isRepeated ? "/caf%E9" : location))
    #expect(http1.requestCount == (isRepeated ? 1 : 0))
    if isRepeated { #expect(base.cancelledBodies == 1) }
  }
  @Test("what HTTP/2 cannot deliver is asked for once more, if the request may be repeated")
  func brokenHTTP2() async throws {
    let (base, http1) = (ScriptedUpstream([Self.broken]), ScriptedUpstream([ScriptedResponse(body: "one")]))
    let response = try await HTTP1Retry(base: base, http1: http1).send(Self.request())
    #expect(try await response.body.collect().array == Array("one".utf8))
    #expect(base.requestCount == 1 && http1.requestCount == 1)
  }

  @Test(
    "the first error counts, except where the caller cancels the second request",
    arguments: [
      (HTTPRequest.Method.post, broken, nil, UpstreamError.Kind.protocol, "broken"),
      (.get, broken, ScriptedResponse.failure(.unreachable), .protocol, "broken"),
      (.get, broken, .failure(.timeout), .protocol, "broken"),
      (.get, broken, .failure(.cancelled), .cancelled, "scripted"),
      (.get, .failure(.protocol), nil, .protocol, "scripted"),
      (.get, .failure(.timeout), nil, .timeout, "scripted"),
      (.get, silent, silent, .timeout, "silent"), (.get, silent, .failure(.unreachable), .timeout, "silent"),
      (.get, silent, .failure(.cancelled), .cancelled, "scripted"),
      (
        .get, silent, .failure(.protocol), .protocol,
        "no connection over HTTP/2 within the time limit; over HTTP/1.1: scripted"
      ),
    ] as [(HTTPRequest.Method, ScriptedResponse, ScriptedResponse?, UpstreamError.Kind, String)])
  func errors(
    _ method: HTTPRequest.Method, _ first: ScriptedResponse, _ second: ScriptedResponse?,
    _ kind: UpstreamError.Kind, _ message: String
  ) async throws {
    let http1 = ScriptedUpstream(second.map { [$0] } ?? [])
    let retry = HTTP1Retry(base: ScriptedUpstream([first]), http1: http1)
    let error = await #expect(throws: UpstreamError.self) { try await retry.send(Self.request(method)) }
    #expect(error?.kind == kind && error?.message == message, "\(String(describing: error))")
    #expect(http1.requestCount == (second == nil ? 0 : 1))
  }

  @Test("a request without a connection is sent over HTTP/1.1 with its content, and later requests at once")
  func withoutConnection() async throws {
    let base = UnconnectedUpstream()
    let http1 = ScriptedUpstream([ScriptedResponse(body: "one"), ScriptedResponse(body: "two")])
    let retry = HTTP1Retry(base: base, http1: http1)
    var request = Self.request(.post)
    request.body = MessageBody(BodyBytes(Array("content".utf8)))
    request.timeout = .seconds(30)
    _ = try await retry.send(request)
    _ = try await retry.send(Self.request())
    #expect(base.requestCount.withLock { $0 } == 1 && http1.requestCount == 2)
    let again = try #require(http1.requests.first)
    #expect(again.head.method == .post && again.body?.count == 7)
    let timeout = try #require(again.request.timeout)
    #expect(timeout < .seconds(30))
  }

  private static func request(_ method: HTTPRequest.Method = .get) -> UpstreamRequest {
    UpstreamRequest(head: HTTPRequest(method: method, scheme: "https", authority: "a.example", path: "/"))
  }

  /// An origin that gives no connection: unlike a scripted one, it does not read the content.
  private final class UnconnectedUpstream: Upstream {
    let requestCount = Mutex(0)

    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      requestCount.withLock { $0 += 1 }
      throw UpstreamError(.timeout, "silent", cause: HTTPClientError.connectTimeout)
    }
  }

  /// HTTP/2 that broke.
  private static var broken: ScriptedResponse {
    .failure(UpstreamError(.protocol, "broken", cause: NIOHTTP2Errors.excessivelyLargeHeaderBlock()))
  }

  /// An origin that sends no SETTINGS.
  private static var silent: ScriptedResponse {
    .failure(UpstreamError(.timeout, "silent", cause: HTTPClientError.connectTimeout))
  }
}
