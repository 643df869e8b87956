import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPTypes
import Synchronization
import Testing

@testable import HTTPCacheStore

/// Keys that a client chooses so that they collide (RFC 9111 §7).
@Suite(.timeLimit(.minutes(10))) struct KeyedHashTests {
  private static let count = 10_000

  private static let keys = (0..<count).map { index in
    CacheKey(mode: .private, target: CollidingTargets.target(index))
  }

  @Test("the targets are normalised URLs, all different, and have one XXH64 without a secret")
  func targetsCollide() throws {
    #expect(Set(Self.keys.map(\.target)).count == Self.count)
    #expect(Set(Self.keys.map { XXH64.hash(Array($0.target.utf8)) }).count == 1)
    #expect(Self.keys.prefix(100).allSatisfy { TargetURI.normalized($0.target) == $0.target })
  }

  @Test("keys of targets that collide under XXH64 have a hash each")
  func hashes() {
    #expect(Set(Self.keys.map(\.hashValue)).count == Self.count)
  }

  @Test("a memory store spreads them over all shards, and finds each of them")
  func memory() async throws {
    let memory = MemoryStore(capacity: 1 << 30)
    for key in Self.keys {
      let record = CacheRecord(key: key, response: StoreSample.response(), bodyLength: 1)
      let writer = try await memory.write(record, variantLimit: 1)
      try await writer.append(StoreSample.body(1))
      try await writer.commit(trailers: [:])
    }
    let loads = memory.shards.map { shard in shard.state.withLock { $0.groups.count } }
    #expect(loads.reduce(0, +) == Self.count)
    // 625 each; 770 is six standard deviations above it.
    #expect(loads.allSatisfy { (480...770).contains($0) }, "\(loads)")
    #expect(Self.keys.allSatisfy { memory.group($0)?.variants.first?.record.key == $0 })
  }
}
