import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// `CachedURLSession.watch`.
@Suite(.timeLimit(.minutes(10))) struct SessionWatchTests {
  private let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
  private let upstream: ScriptedUpstream
  private let session: CachedURLSession

  /// The origin sends the field `X` of the request as the body, and confirms what it sent.
  init() throws {
    upstream = ScriptedUpstream { received in
      received["If-None-Match"] == nil
        ? ScriptedResponse(
          headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Cache-Groups": "\"news\""],
          body: received["X"] ?? "")
        : .notModified(headers: ["ETag": "\"1\""])
    }
    let cache = try HTTPCache.open(HTTPCache.Configuration(clock: clock))
    session = CachedURLSession(cache: cache, via: upstream, configuration: .ephemeral)
  }

  private func request(_ path: String = "a", method: String = "GET") throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: "http://a.test/\(path)")))
    request.httpMethod = method
    return request
  }

  private func load(_ text: String, _ policy: CachePolicy = .standard) async throws {
    var request = try request()
    request.setValue(text, forHTTPHeaderField: "X")
    _ = try await session.data(for: request, cachePolicy: policy)
  }

  private func text(_ update: WatchedUpdate?) -> String {
    switch update {
    case .stored(let data, _): String(decoding: data, as: UTF8.self)
    case .freshened(let response): "freshened \((response as? HTTPURLResponse)?.statusCode ?? 0)"
    case .invalidated: "invalidated"
    case .removed: "removed"
    case nil: "ended"
    @unknown default: "unknown"
    }
  }

  @Test("the stored response, then each that replaces it, and confirmations of it")
  func replaced() async throws {
    var watched = try session.watch(try request()).makeAsyncIterator()
    try await load("one")
    #expect(text(try await watched.next()) == "one")
    clock.advance(by: .seconds(1))
    try await load("confirmed", .revalidate)
    #expect(text(try await watched.next()) == "freshened 200")
    _ = try await session.data(for: request("other"))
    try await load("two", .reload)
    #expect(text(try await watched.next()) == "two")
    var late = try session.watch(try request()).makeAsyncIterator()
    #expect(text(try await late.next()) == "two")
    let waiting = Task { [late] in
      var late = late
      return try await late.next() == nil
    }
    waiting.cancel()
    #expect(try await waiting.value)
  }

  /// The ways to remove an entry.
  private static let removals: [@Sendable (CachedURLSession, URLRequest) async throws -> Void] = [
    { try await $0.remove($1) },
    { session, _ in try await session.cache.removeAll() },
    { session, _ in try await session.cache.remove(.prefix("http://a.test/")) },
    { session, _ in try await session.cache.remove(.group(origin: "http://a.test", name: "news")) },
    { session, _ in try await session.cache.wipe(partition: "") },
    { session, request in HTTPURLCache(cache: session.cache).removeCachedResponse(for: request) },
    { session, _ in HTTPURLCache(cache: session.cache).removeAllCachedResponses() },
    { session, _ in HTTPURLCache(cache: session.cache).removeCachedResponses(since: .distantPast) },
  ]

  @Test("each way to remove the entry is told, and what is stored afterwards", arguments: removals.indices)
  func removed(_ way: Int) async throws {
    var watched = try session.watch(try request()).makeAsyncIterator()
    try await load("one")
    #expect(text(try await watched.next()) == "one")
    try await Self.removals[way](session, try request())
    #expect(text(try await watched.next()) == "removed")
    try await load("two")
    #expect(text(try await watched.next()) == "two")
  }

  /// The ways to invalidate an entry.
  private static let invalidations: [@Sendable (CachedURLSession, URLRequest) async throws -> Void] = [
    { session, _ in try await session.cache.invalidate(.target("http://a.test/a")) },
    { session, _ in try await session.cache.invalidate(.all) },
    { session, _ in try await session.cache.invalidate(.group(origin: "http://a.test", name: "news")) },
    // RFC 9111 §4.4, by another session.
    { session, request in
      var post = request
      post.httpMethod = "POST"
      let other = CachedURLSession(
        cache: session.cache, via: ScriptedUpstream([ScriptedResponse(status: 204)]),
        configuration: .ephemeral)
      _ = try await other.data(for: post)
    },
  ]

  @Test("each way to invalidate the entry is told, then its confirmation", arguments: invalidations.indices)
  func invalidated(_ way: Int) async throws {
    try await load("one")
    var watched = try session.watch(try request()).makeAsyncIterator()
    #expect(text(try await watched.next()) == "one")
    try await Self.invalidations[way](session, try request())
    #expect(text(try await watched.next()) == "invalidated")
    clock.advance(by: .seconds(1))
    try await load("confirmed")
    #expect(text(try await watched.next()) == "freshened 200")
    try await session.remove(try request())
    #expect(text(try await watched.next()) == "removed")
  }
}
