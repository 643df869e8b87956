import HTTPCacheAsyncHTTPClient
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct UpstreamTests {
  private func exchange(
    _ answer: String?, method: HTTPRequest.Method = .get, timeout: Duration? = nil
  ) async throws -> (head: HTTPResponse, body: [UInt8]) {
    let origin = try await ScriptedOrigin { _ in answer.map { .init(bytes: $0.utf8) } }
    let request = try TargetURL(parsing: origin.base + "/").request(method)
    return try await OriginClient.withUpstream { upstream in
      let response = try await upstream.send(UpstreamRequest(head: request, timeout: timeout))
      return (response.head, try await response.body.collect().array)
    }
  }

  /// The kind of failure of a request without an answer.
  private func kind(of request: HTTPRequest) async -> UpstreamError.Kind? {
    await kind {
      try await OriginClient.withUpstream { upstream in
        _ = try await upstream.send(UpstreamRequest(head: request, timeout: .seconds(60)))
      }
    }
  }

  private func kind(_ body: () async throws -> Void) async -> UpstreamError.Kind? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? UpstreamError)?.kind
    }
  }

  @Test("head and body arrive as the origin sent them, repeated fields apart")
  func plain() async throws {
    let (head, body) = try await exchange(
      "HTTP/1.1 203 Sort of\r\nx-Case: a\u{20AC}\tb\r\nX-Twice: 1\r\nX-Twice: 2\r\nContent-Length: 5\r\n\r\nhello"
    )
    #expect(head.status.code == 203)
    #expect(head.headerFields[values: HTTPField.Name("X-Twice")!] == ["1", "2"])
    #expect(head.headerFields.first { $0.name.canonicalName == "x-case" }?.name.rawName == "x-Case")
    #expect(head.headerFields[HTTPField.Name("X-Case")!] == "a\u{20AC}\tb")
    #expect(body == Array("hello".utf8))
  }

  @Test("a redirect is handed over, not followed")
  func redirect() async throws {
    let (head, _) = try await exchange(
      "HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
    #expect(head.status.code == 301)
  }

  @Test("a content coding is left on")
  func contentCoding() async throws {
    let (head, body) = try await exchange(
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd")
    #expect(head.headerFields[.contentEncoding] == "gzip")
    #expect(body == Array("abcd".utf8))
  }

  @Test(
    "a broken response, or none, is an error of its kind",
    arguments: [
      ("a body shorter than its length", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", .protocol),
      ("cut chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .protocol),
      (
        "an unknown transfer coding",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", .protocol
      ),
      ("bytes that are not HTTP", "SSH-2.0-x\r\n\r\n", .protocol),
      ("an origin that closes without a word", "", .unreachable),
      ("an origin that does not answer in time", nil, .timeout),
    ] as [(String, String?, UpstreamError.Kind)])
  func failures(_ rule: String, answer: String?, expected: UpstreamError.Kind) async {
    let timeout: Duration? = answer == nil ? .milliseconds(50) : nil
    let kind = await kind { _ = try await exchange(answer, timeout: timeout) }
    #expect(kind == expected, "\(rule)")
  }

  @Test("a chunked body arrives whole, without the field that told of the coding")
  func chunks() async throws {
    let (head, body) = try await exchange(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    #expect(head.headerFields[.transferEncoding] == nil)
    #expect(body == Array("hello".utf8))
  }

  @Test("a body without a length ends with the connection")
  func closeDelimited() async throws {
    #expect(try await exchange("HTTP/1.1 200 OK\r\n\r\nhello").body == Array("hello".utf8))
  }

  @Test("HEAD has no body, whatever Content-Length says")
  func headRequest() async throws {
    let (head, body) = try await exchange("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", method: .head)
    #expect(head.headerFields[.contentLength] == "9")
    #expect(body.isEmpty)
  }

  @Test("an address without a listener is unreachable")
  func refused() async throws {
    let port = try UnusedPort()
    #expect(try await kind(of: TargetURL(parsing: port.base).request()) == .unreachable)
  }

  @Test("a name that does not exist is unreachable")
  func unknownName() async throws {
    #expect(try await kind(of: TargetURL(parsing: "http://nobody.invalid/").request()) == .unreachable)
  }

  @Test("TLS to a server without TLS is an error of TLS")
  func noTLS() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 400 Bad\r\n\r\n\r\n\r\n")
    let plain = try TargetURL(parsing: origin.base)
    let request = HTTPRequest(method: .get, scheme: "https", authority: plain.authority, path: "/")
    #expect(await kind(of: request) == .tls)
  }

  @Test("a body that was cancelled throws instead of ending")
  func cancelled() async throws {
    try await DemoOrigin.withOrigin { origin in
      try await OriginClient.withUpstream { upstream in
        let url = try TargetURL(parsing: origin.base + DemoResource.file.rawValue)
        let response = try await upstream.send(UpstreamRequest(head: url.request()))
        let first = try await response.body.source.next()
        #expect(first?.isEmpty == false)
        response.body.source.cancel()
        await #expect(throws: CancellationError.self) { try await response.body.source.next() }
      }
      // The origin must not have been drained by a reader that left: 64 MiB would have been.
      #expect(origin.meter.bytes < 32 << 20)
    }
  }

  @Test("a request's content reaches the origin")
  func content() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let request = try TargetURL(parsing: origin.base).request(.post)
    let status = try await OriginClient.withUpstream { upstream in
      try await upstream.send(
        UpstreamRequest(head: request, body: MessageBody(BodyBytes(Array("data".utf8))))
      ).head.status.code
    }
    #expect(status == 200)
    #expect(origin.texts.first?.hasSuffix("\r\n\r\ndata") == true)
  }
}
