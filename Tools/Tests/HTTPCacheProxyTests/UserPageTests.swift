import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Pages for one user in a shared cache", .timeLimit(.minutes(10)))
struct UserPageTests {
  /// The request with fields as the origin gets it, and all of the answer with a body and fields as the client gets it.
  private func ask(
    _ proxy: RunningProxy, _ fields: String = "", answer body: String, _ responseFields: String
  ) async throws -> (request: String, response: String) {
    let (client, peer, head) = try await proxy.open(
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(fields)\r\n")
    peer.send("HTTP/1.1 200 OK\r\n\(responseFields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    return (head, try await client.receiveAll())
  }

  @Test("a page without a lifetime that was made for a cookie answers no other client (RFC 9111 §4.2.2)")
  func cookie() async throws {
    let fields = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
    try await withProxy(cache: try memoryCache()) { proxy in
      for user in ["anna", "bert"] {
        let answer = try await ask(proxy, "Cookie: id=\(user)\r\n", answer: user, fields)
        #expect(answer.response.hasSuffix(user))
      }
      // A prepared answer to visitors is not one for a user, although its key has no cookies.
      _ = try await ask(proxy, answer: "visitor", fields)
      for _ in 0..<3 { #expect(try await proxy.hit("/").hasSuffix("visitor")) }
      let answer = try await ask(proxy, "Cookie: id=anna\r\n", answer: "anna", fields)
      #expect(answer.request.contains("If-Modified-Since: "))
      #expect(answer.response.hasSuffix("anna"))
      #expect(try await proxy.hit("/").hasSuffix("visitor"))
    }
  }

  @Test("only the client of a miss gets its Set-Cookie (RFC 9111 §7.3)")
  func setCookie() async throws {
    try await withProxy(cache: try memoryCache()) { proxy in
      let fields = "Cache-Control: public, max-age=60\r\nSet-Cookie: id=anna\r\n"
      let first = try await ask(proxy, answer: "page", fields)
      #expect(field("Set-Cookie", in: first.response) == "id=anna")
      for _ in 0..<3 {
        let hit = try await proxy.hit("/")
        #expect(hit.hasSuffix("page") && field("Set-Cookie", in: hit) == nil)
      }
    }
  }
}
