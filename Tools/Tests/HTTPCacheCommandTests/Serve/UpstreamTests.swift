import HTTPCacheAsyncHTTPClient
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct UpstreamTests {
  private func exchange(
    _ answer: String?, path: String = "/", method: HTTPRequest.Method = .get, timeout: Duration? = nil
  ) async throws -> (head: HTTPResponse, body: [UInt8]) {
    try await exchange(bytes: answer.map { Array($0.utf8) }, path, method, timeout)
  }

  private func exchange(
    bytes: [UInt8]?, _ path: String = "/", _ method: HTTPRequest.Method = .get, _ timeout: Duration? = nil
  ) async throws -> (head: HTTPResponse, body: [UInt8]) {
    let origin = try await ScriptedOrigin { _ in bytes.map { .init(bytes: $0) } }
    let request = try TargetURL(parsing: origin.base + path).request(method)
    let result = try await OriginClient.withUpstream { upstream in
      let response = try await upstream.send(UpstreamRequest(head: request, timeout: timeout))
      return (response.head, try await response.body.collect().array)
    }
    try await origin.close()
    return result
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

  @Test("a body that is shorter than its Content-Length is an error of the protocol")
  func shortBody() async {
    let kind = await kind { _ = try await exchange("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello") }
    #expect(kind == .protocol)
  }

  @Test("a chunked body that is cut is an error of the protocol")
  func cutChunks() async {
    let kind = await kind {
      _ = try await exchange("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    }
    #expect(kind == .protocol)
  }

  @Test("a chunked body arrives whole, without the field that told of the coding")
  func chunks() async throws {
    let (head, body) = try await exchange(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    #expect(head.headerFields[.transferEncoding] == nil)
    #expect(body == Array("hello".utf8))
  }

  @Test("an unknown transfer coding is an error of the protocol")
  func unknownCoding() async {
    let kind = await kind {
      _ = try await exchange(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    }
    #expect(kind == .protocol)
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

  @Test("bytes that are not HTTP are an error of the protocol")
  func noHTTP() async {
    let kind = await kind { _ = try await exchange("SSH-2.0-x\r\n\r\n") }
    #expect(kind == .protocol)
  }

  @Test("an origin that closes without a word is unreachable")
  func silence() async {
    let kind = await kind { _ = try await exchange("") }
    #expect(kind == .unreachable)
  }

  @Test("an origin that does not answer is a timeout")
  func timeout() async {
    let kind = await kind { _ = try await exchange(nil, timeout: .milliseconds(50)) }
    #expect(kind == .timeout)
  }

  @Test("an address without a listener is unreachable")
  func refused() async throws {
    let port = try UnusedPort()
    let request = try TargetURL(parsing: port.base).request()
    let kind = await kind {
      try await OriginClient.withUpstream { upstream in
        _ = try await upstream.send(UpstreamRequest(head: request))
      }
    }
    #expect(kind == .unreachable)
  }

  @Test("a name that does not exist is unreachable")
  func unknownName() async throws {
    let request = try TargetURL(parsing: "http://nobody.invalid/").request()
    let kind = await kind {
      try await OriginClient.withUpstream { upstream in
        _ = try await upstream.send(UpstreamRequest(head: request))
      }
    }
    #expect(kind == .unreachable)
  }

  @Test("TLS to a server without TLS is an error of TLS")
  func noTLS() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 400 Bad\r\n\r\n\r\n\r\n")
    let plain = try TargetURL(parsing: origin.base)
    let request = HTTPRequest(method: .get, scheme: "https", authority: plain.authority, path: "/")
    let kind = await kind {
      try await OriginClient.withUpstream { upstream in
        _ = try await upstream.send(UpstreamRequest(head: request, timeout: .seconds(60)))
      }
    }
    #expect(kind == .tls)
    try await origin.close()
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
    try await origin.close()
  }
}
