import Foundation
import HTTPCacheURLSession
import HTTPCaching
import ServerTesting
import Testing

/// Origins that end the process, or never let a task end, with Foundation's transport on Linux: over NIO's
/// each is an error or an answer.
@Suite(.timeLimit(.minutes(5))) struct HostileOriginTests {
  @Test(
    "a connection that is closed before a whole head is an error",
    arguments: [
      "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Half: a", "not HTTP\r\n\r\n",
    ])
  func noHead(answer: String) async throws {
    let origin = try await ScriptedOrigin(answer)
    try await SessionOverNIO.run { nio in
      let code = await urlErrorCode { _ = try await nio.get(origin.base + "/a") }
      #expect(code != nil)
    }
  }

  @Test("a chunked body with trailers is read to its end, twice")
  func trailers() async throws {
    let origin = try await ScriptedOrigin(
      """
      HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: max-age=60\r\nTrailer: X-Sum\r\n\r\n\
      5\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n
      """)
    try await SessionOverNIO.run { nio in
      #expect(try await nio.get(origin.base + "/a").text == "hello world")
      let again = try await nio.get(origin.base + "/a")
      #expect(again.text == "hello world")
      #expect(again.response.cacheOutcome?.isHit == true)
    }
  }

  @Test(
    "a 401 without credentials is the answer, whatever its scheme",
    arguments: ["Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "Bearer", "Negotiate", ""])
  func unauthorized(challenge: String) async throws {
    let field = challenge.isEmpty ? "" : "WWW-Authenticate: \(challenge)\r\n"
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 401 Unauthorized\r\n\(field)Content-Length: 2\r\n\r\nno")
    try await SessionOverNIO.run { nio in
      let (text, response) = try await nio.get(origin.base + "/a")
      #expect(text == "no")
      #expect(response.statusCode == 401)
    }
  }

  @Test("a body that is cut short is an error", arguments: [true, false])
  func cutShort(isChunked: Bool) async throws {
    let framing = isChunked ? "Transfer-Encoding: chunked\r\n\r\n5\r\nhel" : "Content-Length: 5\r\n\r\nhel"
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(framing)")
    try await SessionOverNIO.run { nio in
      for _ in 0..<2 {
        let code = await urlErrorCode { _ = try await nio.get(origin.base + "/a") }
        #expect(code != nil)
      }
    }
  }

  @Test("an origin that never answers, or stops in its body, is a timeout", arguments: [true, false])
  func silent(hasHead: Bool) async throws {
    // The head announces more than comes, on a connection that stays open.
    let origin = try await ScriptedOrigin { _ in
      hasHead ? .init(bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".utf8, isHeld: true) : nil
    }
    try await SessionOverNIO.run { nio in
      var request = try nio.request(origin.base + "/a")
      request.timeoutInterval = 1
      let code = await urlErrorCode { _ = try await nio.session.data(for: request) }
      #expect(code == .timedOut)
    }
  }
}
