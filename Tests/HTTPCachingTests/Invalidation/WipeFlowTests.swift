import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Accounts that are wiped", .timeLimit(.minutes(10)))
struct WipeFlowTests {
  private let fresh: HTTPFields = [.cacheControl: "max-age=60"]
  private let options = RequestOptions(partition: "account")

  @Test("all of the partition goes, and nothing of others")
  func wipe() async throws {
    let kitchen = Kitchen()
    kitchen.origin.always(200, fresh, "text")
    for path in ["/a", "/b"] { try await kitchen.get(path, options: options) }
    try await kitchen.get("/a")
    #expect(try await kitchen.cache.wipe(partition: "account") == 2)
    let kept = try await kitchen.cache.store.entries(.all, after: nil, limit: 10).entries
    #expect(kept.map(\.record.key.partition) == [""])
    #expect(
      kitchen.events.count {
        if case .wiped(partition: "account", count: 2) = $0 { true } else { false }
      } == 1)
    #expect(try await kitchen.get("/a", options: options).text == "text")
  }

  @Test("what is on its way reaches its reader and is not stored, nor is it noted")
  func onItsWay() async throws {
    let kitchen = Kitchen()
    let piece = [UInt8](repeating: 7, count: 100_000)
    kitchen.origin.streams(fresh) { _ in TestBody(piece: piece, count: 40, announced: 4_000_000) }
    let request = kitchen.request("/a")
    let response = try await kitchen.cache.respond(to: request, options: options, via: kitchen.origin)
    var count = try await response.body.source.next()?.count ?? 0
    #expect(try await kitchen.cache.wipe(partition: "account") == 0)
    while let bytes = try await response.body.source.next() { count += bytes.count }
    #expect(count == 4_000_000)
    #expect(try await kitchen.cache.store.entries(.all, after: nil, limit: 10).entries.isEmpty)
    #expect(try kitchen.cache.refusals(of: request, options: options).isEmpty)
  }

  @Test("what another partition is storing is stored")
  func others() async throws {
    let kitchen = Kitchen()
    kitchen.origin.streams(fresh) { _ in
      TestBody(piece: [UInt8](repeating: 7, count: 1_000), count: 40, announced: 40_000)
    }
    let response = try await kitchen.cache.respond(to: kitchen.request("/a"), via: kitchen.origin)
    try await kitchen.cache.wipe(partition: "account")
    _ = try await response.body.collect()
    #expect(try await kitchen.cache.store.entries(.all, after: nil, limit: 10).entries.count == 1)
  }

  @Test("memory is trimmed when the app is told to, and the capacity stays")
  func trimMemory() async throws {
    let kitchen = Kitchen()
    kitchen.origin.always(200, fresh, "text")
    for number in 0..<20 { try await kitchen.get("/\(number)") }
    let before = kitchen.cache.store.usage
    kitchen.cache.trimMemory(to: before.memoryBytes / 2)
    let after = kitchen.cache.store.usage
    #expect(after.memoryBytes <= before.memoryBytes / 2)
    #expect(after.memoryEntries > 5)
    #expect(after.memoryCapacity == before.memoryCapacity)
    kitchen.cache.trimMemory()
    #expect(kitchen.cache.store.usage.memoryEntries == 0)
  }
}
