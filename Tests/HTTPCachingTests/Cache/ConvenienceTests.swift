import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A short start, and lines that people can read", .timeLimit(.minutes(10)))
struct ConvenienceTests {
  private func directory(_ name: String, _ rules: CacheRules = CacheRules()) throws -> String {
    try #require(HTTPCache.Configuration.userCaches(name, rules: rules).directory)
  }

  @Test("userCaches is below the user's caches, and private and shared are apart")
  func userCaches() throws {
    let path = try directory("com.example.app")
    let shared = try directory("com.example.app", CacheRules(mode: .shared))
    #expect(path.hasPrefix("/"))
    #expect(path.contains("/com.example.app/"))
    #expect(path != shared)
    #expect(path.contains("ache"))
  }

  @Test("userCaches takes the limit of one entry, encryption and a hook")
  func userCachesSettings() {
    let plain = HTTPCache.Configuration.userCaches("com.example.app")
    #expect(plain.largestEntry == .default && plain.encryption == nil && plain.willStore == nil)
    let configuration = HTTPCache.Configuration.userCaches(
      "com.example.app", largestEntry: .share(0.25),
      encryption: .cipher { _ throws(CacheError) in throw CacheError(.unavailable, "no cipher") },
      willStore: StoringHook { _, _ in nil })
    #expect(configuration.largestEntry == .share(0.25))
    #expect(configuration.encryption != nil && configuration.willStore != nil)
  }

  @Test(
    "a name is one component, whatever it holds", arguments: ["../../etc", "a/b", "..", "", "a\u{0}b", "ü"])
  func names(name: String) throws {
    let base = try (directory("x") as NSString).deletingLastPathComponent
    let parent = (base as NSString).deletingLastPathComponent
    let path = try directory(name)
    #expect(path.hasPrefix(parent + "/"))
    let rest = path.dropFirst(parent.count + 1).split(separator: "/")
    #expect(rest.count == 2)
    #expect(rest.allSatisfy { $0 != ".." && $0 != "." && !$0.contains("\u{0}") })
  }

  @Test("each event is a line with its target, what happened, why, and bytes")
  func lines() async throws {
    let test = TestCache()
    test.origin.answers { request, _ in
      request.path == "/a"
        ? (200, [.cacheControl: "max-age=60"], "12345") : (200, [.cacheControl: "no-store"], "")
    }
    try await test.get("/a")
    test.clock.advance(by: 2)
    try await test.get("/a")
    try await test.get("/b")
    let lines = test.events.events.map { "\($0)" }
    #expect(lines.contains("https://example.com/a: 200 from the origin (nothing stored), to be stored"))
    #expect(lines.contains("https://example.com/a: stored, 5 bytes"))
    #expect(lines.contains("https://example.com/a: from the store, fresh for 58 s"))
    #expect(
      lines.contains("https://example.com/b: not stored: no-store (RFC 9111 §5.2.2.5)"))
    let observer: any CacheObserver = .printing
    #expect(observer is PrintingObserver)
  }
}
