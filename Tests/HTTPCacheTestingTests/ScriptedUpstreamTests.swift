import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Synchronization
import Testing

@Suite("ScriptedUpstream", .timeLimit(.minutes(10)))
struct ScriptedUpstreamTests {
  private func request(_ path: String = "/", body: String? = nil) -> UpstreamRequest {
    UpstreamRequest(
      head: HTTPRequest(
        method: body == nil ? .get : .post, scheme: "https", authority: "example.com", path: path,
        headerFields: [.accept: "text/plain"]),
      body: body.map { MessageBody(BodyBytes(Array($0.utf8))) })
  }

  private func text(_ response: UpstreamResponse) async throws -> String {
    String(decoding: try await response.body.collect().array, as: UTF8.self)
  }

  @Test("answers with what the closure makes of the request, and remembers the request")
  func closure() async throws {
    let upstream = ScriptedUpstream { request in
      .init(
        status: 201, headers: ["Cache-Control": "max-age=60", "X-Path": request.head.path ?? ""],
        body: "hello", trailers: ["ETag": "\"1\""])
    }
    let response = try await upstream.send(request("/a", body: "content"))
    #expect(response.head.status.code == 201)
    #expect(response.head.headerFields[.cacheControl] == "max-age=60")
    #expect(response.body.length == 5)
    #expect(response.body.trailers.isEmpty)
    #expect(try await text(response) == "hello")
    #expect(response.body.trailers[.eTag] == "\"1\"")
    #expect(upstream.requests.map(\.head.path) == ["/a"])
    #expect(upstream.requests.first?.body?.array == Array("content".utf8))
    #expect(upstream.requests.first?["accept"] == "text/plain")
    #expect(upstream.cancelledBodies == 0)
  }

  @Test("answers from a queue, and cannot be reached after its end")
  func queue() async throws {
    let upstream = ScriptedUpstream([.init(body: "one"), .failure(.timeout)])
    #expect(try await text(upstream.send(request())) == "one")
    await #expect { try await upstream.send(request()) } throws: { error in
      (error as? UpstreamError)?.kind == .timeout
    }
    await #expect { try await upstream.send(request()) } throws: { error in
      (error as? UpstreamError)?.kind == .unreachable
    }
    upstream.enqueue(.notModified(headers: ["ETag": "\"1\""]))
    #expect(try await upstream.send(request()).head.status == .notModified)
    #expect(upstream.requestCount == 4)
  }

  @Test("fails in the middle of a body")
  func cutShort() async throws {
    let upstream = ScriptedUpstream([
      ScriptedResponse(body: "half").cutShort(),
      ScriptedResponse(chunks: [BodyBytes(Array("all".utf8))]).cutShort(),
    ])
    // With a length it must be cut: a reader that has all bytes asks for no more.
    for text in ["ha", "all"] {
      let body = try await upstream.send(request()).body
      #expect(try await body.source.next()?.array == Array(text.utf8))
      await #expect(throws: UpstreamError.self) { try await body.source.next() }
    }
  }

  @Test("stalls before the head and in the body until its gates are opened")
  func stalls() async throws {
    let head = Gate()
    let body = Gate()
    let upstream = ScriptedUpstream([
      ScriptedResponse(chunks: [BodyBytes([1]), BodyBytes([2])]).stallingBeforeHead(at: head)
        .stalling(after: 1, at: body)
    ])
    let answer = Task { try await upstream.send(request()) }
    await head.waitForArrivals(1)
    await upstream.waitForRequests(1)
    head.open()
    let response = try await answer.value
    #expect(try await response.body.source.next()?.array == [1])
    let second = Task { try await response.body.source.next()?.array }
    await body.waitForArrivals(1)
    body.open()
    #expect(try await second.value == [2])
    #expect(try await response.body.source.next() == nil)
  }

  @Test("ends a stalled body when it is cancelled")
  func cancel() async throws {
    let gate = Gate()
    let upstream = ScriptedUpstream([ScriptedResponse(body: "never").stalling(at: gate)])
    let source = try await upstream.send(request()).body.source
    let waiting = Task { try await source.next() }
    await gate.waitForArrivals(1)
    source.cancel()
    await #expect(throws: (any Error).self) { try await waiting.value }
    #expect(upstream.cancelledBodies == 1)
  }

  @Test("a failure that stalls waits before it fails, however it was made")
  func stallingFailure() async throws {
    for response in [
      { (gate: Gate) in ScriptedResponse.failure(.unreachable).stallingBeforeHead(at: gate) },
      { gate in
        var response = ScriptedResponse().stallingBeforeHead(at: gate)
        response.beforeHead.append(.fail(UpstreamError(.unreachable, "scripted")))
        return response
      },
    ] {
      let gate = Gate()
      let upstream = ScriptedUpstream([response(gate)])
      let waiting = Task { try await upstream.send(request()) }
      await gate.waitForArrivals(1)
      gate.open()
      await #expect(throws: UpstreamError.self) { try await waiting.value }
    }
  }

  @Test("counts a body that is dropped before its end")
  func dropped() async throws {
    let upstream = ScriptedUpstream([.init(body: "unread")])
    do { _ = try await upstream.send(request()) }
    #expect(upstream.cancelledBodies == 1)
  }

  @Test("sends interim responses before the head")
  func interim() async throws {
    let seen = Mutex<[Int]>([])
    let upstream = ScriptedUpstream([
      ScriptedResponse().preceded(by: [HTTPResponse(status: .init(code: 103))])
    ])
    var request = request()
    request.onInterim = { response in seen.withLock { $0.append(response.status.code) } }
    _ = try await upstream.send(request)
    #expect(seen.withLock { $0 } == [103])
  }
}
