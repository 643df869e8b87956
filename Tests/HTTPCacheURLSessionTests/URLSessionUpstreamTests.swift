import Foundation
import HTTPCacheURLSession
import HTTPCaching
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLSessionUpstreamTests {
  private func send(
    _ path: String, to origin: SocketOrigin, method: HTTPRequest.Method = .get,
    fields: HTTPFields = [:], body: MessageBody? = nil, timeout: Duration? = nil,
    onInterim: (@Sendable (HTTPResponse) async -> Void)? = nil,
    via upstream: URLSessionUpstream = URLSessionUpstream(configuration: .ephemeral)
  ) async throws -> UpstreamResponse {
    let head = HTTPRequest(
      method: method, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: path,
      headerFields: fields)
    return try await upstream.send(
      UpstreamRequest(head: head, body: body, timeout: timeout, onInterim: onInterim))
  }

  private func kind(_ work: () async throws -> Void) async -> UpstreamError.Kind? {
    do {
      try await work()
      return nil
    } catch {
      return (error as? UpstreamError)?.kind
    }
  }

  @Test func headAndBody() async throws {
    let origin = try SocketOrigin { .text("hello", [("X-A", $0["X-B"] ?? "")]) }
    let response = try await send("/p?q", to: origin, fields: [HTTPField.Name("X-B")!: "b"])
    #expect(response.head.status == .ok)
    #expect(response.head.headerFields[HTTPField.Name("X-A")!] == "b")
    #expect(response.body.length == 5)
    #expect(!response.isContentDecoded)
    #expect(try await response.body.collect().array == Array("hello".utf8))
    #expect(origin.requests.map(\.target) == ["/p?q"])
  }

  @Test func redirectsAreHandedOverWithTheirBody() async throws {
    let origin = try SocketOrigin { _ in
      var answer = OriginAnswer.redirect(to: "/other")
      answer.steps = [.bytes(Array("moved".utf8))]
      return answer
    }
    let response = try await send("/", to: origin)
    #expect(response.head.status.code == 302)
    #expect(try await response.body.collect().array == Array("moved".utf8))
    #expect(origin.requests.count == 1)
  }

  @Test func aRedirectWithoutLocationIsHandedOver() async throws {
    let origin = try SocketOrigin { _ in .status(302) }
    #expect(try await send("/", to: origin).head.status.code == 302)
  }

  @Test func noContentAndHead() async throws {
    let origin = try SocketOrigin { request in
      request.path == "/204" ? .status(204) : .gzip("some text")
    }
    #expect(try await send("/204", to: origin).body.collect().isEmpty)
    let head = try await send("/", to: origin, method: .head)
    #expect(head.body.length == 0)
    #expect(!head.isContentDecoded)
    #expect(try await head.body.collect().isEmpty)
  }

  @Test func whatIsEncodedIsSaidToBeDecoded() async throws {
    let origin = try SocketOrigin { _ in .gzip("some text") }
    let response = try await send("/", to: origin)
    #expect(response.isContentDecoded)
    #expect(response.body.length == nil)
    #expect(try await response.body.collect().array == Array("some text".utf8))
  }

  @Test func aPartOfEncodedContentIsAnError() async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(
        status: 206, fields: [("Content-Encoding", "gzip"), ("Content-Range", "bytes 0-4/100")],
        steps: [.bytes(Array(Gzip.stored(Array("text".utf8)).prefix(5)))])
    }
    let failure = await kind {
      let response = try await send("/", to: origin, fields: [.range: "bytes=0-4"])
      _ = try await response.body.collect()
    }
    #expect(failure == .protocol)
    #expect(origin.requests.first?["Accept-Encoding"] == "identity")
  }

  @Test func interimResponsesArePassedOn() async throws {
    let origin = try SocketOrigin { _ in
      var answer = OriginAnswer()
      answer.raw = Array(
        ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").utf8)
      return answer
    }
    let seen = Seen<Int>()
    let response = try await send("/", to: origin) { seen.add($0.status.code) }
    #expect(response.head.status == .ok)
    #expect(seen.all == [103])
    #expect(try await response.body.collect().count == 2)
  }

  @Test(arguments: [OriginAnswer.Framing.length(10), .chunked])
  func aCutBodyIsAnError(_ framing: OriginAnswer.Framing) async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([1, 2, 3]), .cut], framing: framing)
    }
    let failure = await kind {
      let body = try await send("/", to: origin).body
      for try await _ in body {}
    }
    #expect(failure == .protocol)
  }

  @Test func nobodyThere() async throws {
    let origin = try SocketOrigin()
    origin.stop()
    #expect(await kind { _ = try await send("/", to: origin) } == .unreachable)
  }

  @Test func noHeadInTime() async throws {
    let origin = try SocketOrigin { _ in
      var answer = OriginAnswer.text("late")
      answer.headLatch = Latch()
      return answer
    }
    // On a busy machine, a short limit may pass before the request is sent.
    for limit in [Duration.milliseconds(50), .seconds(1), .seconds(20)] where origin.requests.isEmpty {
      #expect(await kind { _ = try await send("/", to: origin, timeout: limit) } == .timeout)
    }
    await origin.abandoned(1)
  }

  @Test func noBytesInTime() async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([1]), .hold(Latch())], framing: .length(2))
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 0.2
    let upstream = URLSessionUpstream(configuration: configuration)
    let failure = await kind {
      _ = try await send("/", to: origin, via: upstream).body.collect()
    }
    #expect(failure == .timeout)
  }

  @Test func aCancelledTaskStopsTheTransfer() async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([1]), .hold(Latch())], framing: .length(2))
    }
    let body = try await send("/", to: origin).body
    let reading = Task { try await body.collect() }
    await origin.arrived(1)
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    await origin.abandoned(1)
  }

  @Test func aDroppedBodyStopsTheTransfer() async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([1]), .hold(Latch())], framing: .length(2))
    }
    _ = try await send("/", to: origin)
    await origin.abandoned(1)
  }

  @Test(arguments: [10, 3_000_000])
  func contentIsSent(_ count: Int) async throws {
    let origin = try SocketOrigin { .text("\($0.body.count) \($0.body.last ?? 0)") }
    let content = OriginAnswer.pattern(0..<Int64(count))
    let response = try await send(
      "/", to: origin, method: .put, body: MessageBody(BodyBytes(content)))
    let expected = "\(count) \(content.last ?? 0)"
    #expect(try await response.body.collect().array == Array(expected.utf8))
    #expect(origin.requests.first?["Content-Type"] == nil)
  }

  @Test func aSessionThatIsInvalidatedInFlight() async throws {
    let latch = Latch()
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([1]), .hold(latch)], framing: .length(2))
    }
    let upstream = URLSessionUpstream(configuration: .ephemeral)
    let body = try await send("/", to: origin, via: upstream).body
    upstream.invalidateAndCancel()
    #expect(await kind { _ = try await body.collect() } == .cancelled)
    #expect(await kind { _ = try await send("/", to: origin, via: upstream) } == .cancelled)
    await origin.abandoned(1)
  }

  @Test func cookiesOfResponsesAreKept() async throws {
    let origin = try SocketOrigin { _ in
      .text("x", [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/")])
    }
    let configuration = URLSessionConfiguration.ephemeral
    let upstream = URLSessionUpstream(configuration: configuration)
    _ = try await send("/", to: origin, via: upstream).body.collect()
    let kept = configuration.httpCookieStorage?.cookies(for: origin.url("/")) ?? []
    #expect(Set(kept.map(\.name)) == ["a", "b"])
  }
}
