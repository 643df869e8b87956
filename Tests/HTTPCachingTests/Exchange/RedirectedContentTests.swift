import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Redirects of requests with content (RFC 9110 §15.4)", .timeLimit(.minutes(10)))
struct RedirectedContentTests {
  private let test = TestCache()
  private var again: RequestOptions {
    var options = RequestOptions()
    options.contentAgain = { MessageBody(BodyBytes(Array("content".utf8))) }
    return options
  }

  private func send(
    _ method: HTTPRequest.Method, _ options: RequestOptions, to statuses: Int...
  ) async throws -> (status: Int, requests: [ScriptedUpstream.Received]) {
    let redirects = statuses.map { ScriptedResponse(status: $0, headers: ["Location": "/next"]) }
    let upstream = ScriptedUpstream(redirects + [ScriptedResponse(body: "done")])
    let response = try await test.cache.respond(
      to: test.request("/", [.contentType: "text/plain"], method: method),
      body: MessageBody(BodyBytes(Array("content".utf8))), options: options, via: upstream)
    return (response.head.status.code, upstream.requests)
  }

  @Test(
    "the content goes along where the method stays",
    arguments: [
      (307, HTTPRequest.Method.post), (308, .post), (301, .put), (302, .put), (307, .put), (308, .delete),
      (302, .get),
    ])
  func kept(_ status: Int, _ method: HTTPRequest.Method) async throws {
    let sent = try await send(method, again, to: status)
    #expect(sent.status == 200)
    #expect(sent.requests.map(\.head.method) == [method, method])
    #expect(sent.requests.last?.head.path == "/next")
    #expect(sent.requests.last?["Content-Type"] == "text/plain")
    #expect(sent.requests.last?.body?.array == Array("content".utf8))
  }

  @Test("303, and 301 and 302 of a POST, ask without content", arguments: [301, 302, 303])
  func dropped(_ status: Int) async throws {
    let sent = try await send(.post, again, to: status, 307)
    #expect(sent.requests.map(\.head.method) == [.post, .get, .get])
    for request in sent.requests.dropFirst() {
      #expect(request.body == nil)
      #expect(request["Content-Type"] == nil)
    }
  }

  @Test("a 303 asks without content whatever the method", arguments: [HTTPRequest.Method.get, .put])
  func seeOther(_ method: HTTPRequest.Method) async throws {
    let sent = try await send(method, RequestOptions(), to: 303)
    #expect(sent.requests.map(\.head.method) == [method, .get])
    #expect(sent.requests.last?.body == nil)
  }

  @Test("content that cannot be sent again is not sent: the redirect is the response")
  func notFollowed() async throws {
    let sent = try await send(.put, RequestOptions(), to: 307)
    #expect(sent.status == 307)
    #expect(sent.requests.count == 1)
  }
}
