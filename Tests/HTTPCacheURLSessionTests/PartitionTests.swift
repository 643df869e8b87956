import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Two accounts over one cache.
@Suite(.timeLimit(.minutes(10))) struct PartitionTests {
  private let cache = HTTPCache(
    configuration: HTTPCache.Configuration(), store: MemoryStore(capacity: 8 << 20))

  private func session(_ account: String, _ origin: ScriptedUpstream) -> CachedURLSession {
    CachedURLSession(cache: cache, via: origin, partition: account, configuration: .ephemeral)
  }

  private func text(_ session: CachedURLSession, _ request: URLRequest) async throws -> String {
    String(decoding: try await session.data(for: request).0, as: UTF8.self)
  }

  @Test("a session finds only the responses of its account, however it asks")
  func sessions() async throws {
    let origin = ScriptedUpstream(
      ["anna", "bert"].map { .init(headers: ["Cache-Control": "max-age=60", "ETag": "\"\($0)\""], body: $0) })
    let (anna, bert) = (session("anna", origin), session("bert", origin))
    let request = URLRequest(url: try #require(URL(string: "https://example.com/me")))
    #expect(anna.partition == "anna")
    #expect(try await text(anna, request) == "anna")
    #expect(try await bert.file(for: request) == nil)
    #expect(try await text(bert, request) == "bert")
    #expect(try await text(anna, request) == "anna")
    var iterator = try bert.responses(to: request).makeAsyncIterator()
    guard case .response(let data, _)? = try await iterator.next() else {
      Issue.record("no response")
      return
    }
    #expect(data == Data("bert".utf8))
    #expect(origin.requestCount == 2)
  }

  private func store(_ text: String, in urlCache: HTTPURLCache, _ request: URLRequest) throws {
    let url = try #require(request.url)
    let response = try #require(
      HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: "HTTP/1.1",
        headerFields: ["Cache-Control": "max-age=60"]))
    urlCache.storeCachedResponse(
      CachedURLResponse(response: response, data: Data(text.utf8)), for: request)
  }

  private func text(_ urlCache: HTTPURLCache, _ request: URLRequest) -> String? {
    urlCache.cachedResponse(for: request).map { String(decoding: $0.data, as: UTF8.self) }
  }

  @Test("a URLCache stores, finds and removes only the responses of its account")
  func urlCaches() async throws {
    let origin = ScriptedUpstream([])
    let (anna, bert) = (
      HTTPURLCache(cache: cache, partition: "anna"), HTTPURLCache(cache: cache, partition: "bert")
    )
    let request = URLRequest(url: try #require(URL(string: "https://example.com/me")))
    let other = URLRequest(url: try #require(URL(string: "https://example.com/other")))
    #expect(anna.partition == "anna")
    try store("anna", in: anna, request)
    #expect(text(bert, request) == nil)
    #expect(text(HTTPURLCache(cache: cache), request) == nil)
    try store("bert", in: bert, request)
    #expect(text(anna, request) == "anna")
    #expect(try await text(session("bert", origin), request) == "bert")
    anna.removeCachedResponse(for: request)
    #expect(text(anna, request) == nil)
    #expect(text(bert, request) == "bert")
    for remove in [
      { (urlCache: HTTPURLCache) in urlCache.removeAllCachedResponses() },
      { $0.removeCachedResponses(since: .distantPast) },
    ] {
      try store("anna", in: anna, request)
      try store("anna too", in: anna, other)
      remove(anna)
      #expect(text(anna, request) == nil)
      #expect(text(anna, other) == nil)
      #expect(text(bert, request) == "bert")
    }
    HTTPURLCache(cache: cache).removeAllCachedResponses()
    #expect(text(bert, request) == nil)
  }
}
