import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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
}
