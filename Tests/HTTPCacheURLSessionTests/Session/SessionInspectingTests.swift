import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Questions about what is stored, by `URLRequest`.
@Suite(.timeLimit(.minutes(10))) struct SessionInspectingTests {
  private let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))

  private func session(
    partition: String = "", cache: HTTPCache? = nil,
    _ answer: @escaping @Sendable (ScriptedUpstream.Received) async -> ScriptedResponse
  ) throws -> (CachedURLSession, ScriptedUpstream) {
    let upstream = ScriptedUpstream(answer)
    let cache = try cache ?? HTTPCache.open(HTTPCache.Configuration(clock: clock))
    return (
      CachedURLSession(cache: cache, via: upstream, partition: partition, configuration: .ephemeral),
      upstream
    )
  }

  private func request(_ path: String = "a") throws -> URLRequest {
    URLRequest(url: try #require(URL(string: "http://a.test/\(path)")))
  }

  @Test("peek, explain and remove see what the session stored, in its partition")
  func stored() async throws {
    let (session, upstream) = try session(partition: "anna") { _ in
      ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "text")
    }
    let request = try request()
    #expect(session.peek(request) == nil)
    _ = try await session.data(for: request)
    let (data, response) = try #require(session.peek(request))
    #expect(data == Data("text".utf8) && response.cacheOutcome != nil)
    guard case .fresh = try session.explain(request).decision else {
      Issue.record("\(try session.explain(request))")
      return
    }
    let bert = CachedURLSession(
      cache: session.cache, via: upstream, partition: "bert", configuration: .ephemeral)
    try await bert.remove(request)
    #expect(session.peek(request) != nil && bert.peek(request) == nil)
    try await session.remove(request)
    #expect(session.peek(request) == nil && upstream.requestCount == 1)
  }

  @Test("refusals says why a response was not stored")
  func refusals() async throws {
    let (session, _) = try session { _ in
      ScriptedResponse(headers: ["Cache-Control": "no-store"], body: "text")
    }
    let request = try request()
    _ = try await session.data(for: request)
    #expect(try session.refusals(of: request).count == 1)
    #expect(throws: URLError.self) { try session.refusals(of: URLRequest(url: URL(fileURLWithPath: "/a"))) }
  }

  @Test("prefetch stores, and asks only for what is not fresh")
  func prefetch() async throws {
    let (session, upstream) = try session { received in
      received.head.path == "/3"
        ? .failure(.unreachable)
        : ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "text")
    }
    let requests = try (0..<8).map { try request("\($0)") }
    _ = await session.prefetch(requests).value
    #expect(upstream.requestCount == 8)
    #expect(requests.filter { session.peek($0) != nil }.count == 7)
    _ = await session.prefetch(requests, priority: .high).value
    #expect(upstream.requestCount == 9, "only the one that failed")
  }
}
