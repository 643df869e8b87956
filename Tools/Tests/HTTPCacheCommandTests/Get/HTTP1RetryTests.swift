import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
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
}
