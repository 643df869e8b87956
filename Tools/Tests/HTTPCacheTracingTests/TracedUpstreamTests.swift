import HTTPCacheTesting
import HTTPCacheTracing
import HTTPCaching
import HTTPTypes
import InMemoryTracing
import Testing
import Tracing

@Suite(.timeLimit(.minutes(10))) struct TracedUpstreamTests {
  /// The field in which this tracer writes the identifier of a trace.
  private static let field = HTTPField.Name(InMemoryTracer.traceIDKey) ?? .via

  private let tracer = InMemoryTracer()

  private func request(_ path: String) -> HTTPRequest {
    HTTPRequest(
      method: .get, scheme: "http", authority: "example.com", path: path,
      headerFields: [Self.field: "the client's"])
  }

  private func get(_ path: String, _ cache: HTTPCache, _ upstream: any Upstream) async throws {
    let response = try await cache.respond(to: request(path), via: TracedUpstream(upstream, tracer: tracer))
    _ = try await response.body.collect()
  }

  @Test("a request to the origin has a span below the caller's, and carries its context; a hit has none")
  func spans() async throws {
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let upstream = ScriptedUpstream([.init(headers: ["Cache-Control": "max-age=100000"], body: "hello")])
    let parent = try await tracer.withSpan("parent") { parent in
      for _ in 0..<2 { try await get("/a?secret=1", cache, upstream) }
      return parent.context.inMemorySpanContext
    }
    let spans = tracer.finishedSpans.filter { $0.operationName == "GET" }
    let span = try #require(spans.first)
    #expect(spans.count == 1 && span.kind == .client)
    #expect(span.spanContext.traceID == parent?.traceID && span.spanContext.parentSpanID == parent?.spanID)
    #expect(span.attributes.get("url.full") == .string("http://example.com/a"))
    #expect(span.attributes.get("server.address") == .string("example.com"))
    #expect(span.attributes.get("http.request.method") == .string("GET"))
    #expect(span.attributes.get("http.response.status_code") == .int64(200))
    let sent = try #require(upstream.requests.first)
    #expect(sent.head.headerFields[values: Self.field] == [span.spanContext.traceID])
  }

  @Test("a validation in the background has a span too")
  func background() async throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let cache = try HTTPCache.open(HTTPCache.Configuration(clock: clock))
    let upstream = ScriptedUpstream([
      .init(headers: ["Cache-Control": "max-age=1, stale-while-revalidate=60"], body: "a"),
      .init(headers: ["Cache-Control": "max-age=60"], body: "b"),
    ])
    try await get("/", cache, upstream)
    clock.advance(by: Duration.seconds(5))
    try await get("/", cache, upstream)
    await upstream.waitForRequests(2)
    // The span ends after the request has reached the origin.
    while tracer.finishedSpans.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(tracer.finishedSpans.map(\.operationName) == ["GET", "GET"])
  }

  @Test("a status of an error, and a failure, are errors of the span")
  func failures() async throws {
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let upstream = ScriptedUpstream([.init(status: 500, body: "x"), .failure(.timeout)])
    try await get("/a", cache, upstream)
    await #expect(throws: UpstreamError.self) { try await get("/b", cache, upstream) }
    let spans = tracer.finishedSpans
    #expect(spans.map { $0.status?.code } == [.error, .error])
    #expect(spans.map { $0.attributes.get("error.type") } == [.string("500"), .string("timeout")])
    #expect(spans.last?.errors.count == 1)
  }
}
