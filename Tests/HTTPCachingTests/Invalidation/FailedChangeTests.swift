import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("What the store refuses to invalidate is not fresh (RFC 9111 §4.4)", .timeLimit(.minutes(10)))
struct FailedChangeTests {
  private let store = FaultyStore(MemoryStore(capacity: 64 << 20))
  private let test: TestCache<TestOrigin>
  private let groups = HTTPField.Name.cacheGroups
  private let busy = CacheError(.busy, "made to fail")

  init() { test = TestCache(store: store) }

  private func stored(_ paths: [String], _ fields: HTTPFields = [:]) async throws {
    var fields = fields
    fields[.cacheControl] = "max-age=600"
    fields[.eTag] = "\"1\""
    test.origin.always(200, fields, "old")
    for path in paths { try await test.get(path) }
    test.clock.advance(by: 1)
  }

  private func text(_ path: String) async throws -> String { try await test.get(path).text }

  private func becomesNew() { test.origin.always(200, [.cacheControl: "max-age=600"], "new") }

  @Test("by an unsafe method; other targets stay, and so does what is asked for later", arguments: [1, .max])
  func unsafe(times: Int) async throws {
    try await stored(["/a", "/b"])
    store.fail(.invalidate, times: times, with: busy)
    test.origin.always(204, [:], "")
    try await test.get("/a", method: .put)
    test.clock.advance(by: 5)
    becomesNew()
    #expect(test.cache.peek(test.request("/a")) == nil)
    #expect(test.cache.peek(test.request("/b")) != nil)
    #expect(try await text("/a") == "new")
    #expect(try await text("/b") == "old")
    test.origin.always(200, [:], "newest")
    #expect(try await text("/a") == "new")
  }

  @Test("it is confirmed by a 304, and is fresh then")
  func validated() async throws {
    try await stored(["/a"])
    store.fail(.invalidate, times: .max, with: busy)
    test.origin.always(204, [:], "")
    try await test.get("/a", method: .put)
    test.clock.advance(by: 5)
    test.origin.always(304, [.eTag: "\"1\""], "")
    for _ in 0..<2 { #expect(try await text("/a") == "old") }
    #expect(test.origin.requests.count == 3)
  }

  @Test("by a group (RFC 9875 §3)")
  func group() async throws {
    try await stored(["/a"], [groups: "\"x\""])
    store.fail(.invalidate, times: .max, with: busy)
    test.origin.always(200, [.cacheGroupInvalidation: "\"x\""], "")
    try await test.get("/form", method: .post)
    becomesNew()
    #expect(try await text("/a") == "new")
  }

  @Test("what Clear-Site-Data should have removed answers nothing, even if the origin fails")
  func site() async throws {
    try await stored(["/a"])
    store.fail(.remove, times: .max, with: busy)
    test.origin.always(200, [.clearSiteData: "\"cache\""], "")
    try await test.get("/bye")
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/a") }
  }

  @Test("nor does what is gone")
  func gone() async throws {
    try await stored(["/a"])
    store.fail(.remove, times: .max, with: busy)
    test.origin.always(410, [.cacheControl: "no-store"], "")
    try await test.get("/a", policy: .reload)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/a") }
  }

  @Test("nor what a new answer supersedes that must not be stored (RFC 9111 §4.3.3)")
  func superseded() async throws {
    try await stored(["/a"])
    store.fail(.update, times: .max, with: busy)
    test.origin.always(200, [.cacheControl: "no-store"], "new")
    try await test.get("/a", [.cacheControl: "no-cache"])
    #expect(try await text("/a") == "new")
  }

  @Test("the next request tries again, then once a second at most")
  func retried() async throws {
    try await stored(["/a", "/b"])
    let before = store.calls(.invalidate)
    store.fail(.invalidate, times: 2, with: busy)
    test.origin.always(204, [:], "")
    try await test.get("/a", method: .put)
    for _ in 0..<3 { #expect(try await text("/b") == "old") }
    #expect(store.calls(.invalidate) == before + 2)
    test.clock.advance(by: 1)
    for _ in 0..<3 { #expect(try await text("/b") == "old") }
    #expect(store.calls(.invalidate) == before + 3)
    let marked = try await store.base.entries(.all, after: nil, limit: 9).entries
      .filter(\.record.response.isInvalidated)
    #expect(marked.map(\.record.key.target) == ["https://example.com/a"])
  }

  @Test("of more than 64, everything is validated")
  func bounded() async throws {
    let paths = (0...70).map { "/\($0)" }
    try await stored(paths + ["/other"])
    store.fail(.invalidate, times: .max, with: busy)
    test.origin.always(204, [:], "")
    for path in paths { try await test.get(path, method: .put) }
    becomesNew()
    for path in paths + ["/other"] { #expect(try await text(path) == "new") }
    store.heal()
    test.clock.advance(by: 1)
    #expect(try await text("/other") == "new")
  }
}
