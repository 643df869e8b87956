import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

@Suite("Responses of a store as a seed", .timeLimit(.minutes(10)))
struct StoreExportTests {
  private let store = MemoryStore(capacity: 8 << 20)

  private func add(
    _ target: String, partition: String = "", _ fields: HTTPFields = [:], request: HTTPFields = [:]
  )
    async throws
  {
    let time = Timestamp(seconds: 1_600_000_000)
    let response = try StoredResponse.make(
      request: HTTPRequest(
        method: .get, scheme: "https", authority: "example.com", path: "/", headerFields: request),
      response: ReceivedResponse(
        HTTPResponse(status: .ok, headerFields: fields), requestTime: time, responseTime: time),
      isDecoded: false, rules: CacheRules(), digest: { Array($0.utf8) })
    let record = CacheRecord(
      key: CacheKey(mode: .private, partition: partition, target: target), response: response, bodyLength: 4)
    let writer = try await store.write(record, variantLimit: 8)
    try await writer.append(BodyBytes(Array("body".utf8)))
    try await writer.commit(trailers: [:])
  }

  @Test("ordered by target, with bodies and variants")
  func responses() async throws {
    try await add("https://example.com/b")
    for language in ["en", "de"] {
      try await add(
        "https://example.com/a", [.vary: "Accept-Language"], request: [.acceptLanguage: language])
    }
    let export = try await StoreExport(store, mode: .private, name: "test")
    #expect(export.leftOut == 0)
    let list = try export.responses(from: 0, limit: 9)
    #expect(
      list.map(\.target) == ["https://example.com/a", "https://example.com/a", "https://example.com/b"])
    #expect(try await list[2].text() == "body")
    #expect(try export.responses(to: "https://example.com/a").count == 2)
  }

  @Test("what is private, for one account, with credentials, or invalidated is left out")
  func leftOut() async throws {
    try await add("https://example.com/private", [.cacheControl: "private"])
    try await add("https://example.com/account", partition: "account")
    try await add("https://example.com/authorized", request: [.authorization: "Basic YTpi"])
    try await add("https://example.com/cookie", [.vary: "Cookie"], request: [.cookie: "a=b"])
    try await add("https://example.com/invalidated")
    try await store.invalidate(.target("https://example.com/invalidated"))
    let export = try await StoreExport(store, mode: .private, name: "test")
    #expect(export.count == 0 && export.leftOut == 5)
    try await add("https://example.com/a")
    #expect(try await StoreExport(store, mode: .shared, name: "test").count == 0)
    let selected = try await StoreExport(
      store, .prefix("https://example.com/a"), mode: .private, name: "test")
    #expect(try selected.responses(from: 0, limit: 9).map(\.target) == ["https://example.com/a"])
  }
}
