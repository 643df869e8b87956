import HTTPCacheSemantics
import HTTPCacheTesting
import Synchronization
import Testing

@testable import HTTPCacheStore

@Suite("Keys in memory by target and by group", .timeLimit(.minutes(10)))
struct KeysByScopeTests {
  private let memory = MemoryStore(capacity: 200_000, largestEntry: 50_000)
  private let paths = (0..<12).map { "/\($0)" }
  private let names = ["a", "b", "c"]

  /// The keys that a look at every entry finds.
  private func scan(_ selection: CacheSelection) -> Set<CacheKey> {
    let found = memory.groups(.all).filter { _, group in
      group.variants.contains { selection.matches($0.record, lastUsed: group.lastUsed) }
    }
    return Set(found.map(\.0))
  }

  @Test(
    "RFC 9111 §4.4, RFC 9875: a target and a group find what a look at every entry finds", arguments: 1...4)
  func model(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<600 {
      let key = CacheKey(
        mode: .private, partition: names.randomElement(using: &random) ?? "",
        target: "https://example.com" + (paths.randomElement(using: &random) ?? ""))
      let groups = names.filter { _ in Bool.random(using: &random) }
      switch Int.random(in: 0..<10, using: &random) {
      case 0: _ = try await memory.remove(.key(key))
      case 1: _ = try await memory.invalidate(.target(key.target))
      case 2:
        guard let stored = memory.group(key)?.variants.first?.record else { continue }
        _ = memory.updateRecord(stored.with(groups: groups, ticket: memory.ticket()))
      case 3: memory.trimMemory(to: Int64.random(in: 50_000...200_000, using: &random))
      default:
        // Larger bodies evict others.
        let count = Int.random(in: 10...20_000, using: &random)
        let record = CacheRecord(
          key: key, response: StoreSample.response(), bodyLength: Int64(count), groups: groups)
        try await memory.store(record, StoreSample.body(count))
      }
      for path in paths {
        let selection = CacheSelection.target("https://example.com" + path)
        #expect(Set(memory.groups(selection).map(\.0)) == scan(selection))
      }
      for name in names {
        let selection = CacheSelection.group(origin: "https://example.com", name: name)
        #expect(Set(memory.groups(selection).map(\.0)) == scan(selection))
      }
    }
    _ = try await memory.remove(.all)
    #expect(memory.shards.allSatisfy { $0.state.withLock { $0.keysByScope.isEmpty } })
  }
}
