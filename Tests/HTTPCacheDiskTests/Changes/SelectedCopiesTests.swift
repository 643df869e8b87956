import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// A selection, and the copies that it leaves.
struct Selection: Sendable {
  enum Copy { case sibling, other }

  let value: CacheSelection
  let keeps: Set<Copy>

  init(_ value: CacheSelection, keeps: Set<Copy>) {
    self.value = value
    self.keeps = keeps
  }
}

/// Copies in the memory of this and of another process, while entries of several keys are invalidated or removed.
@Suite(.timeLimit(.minutes(10))) struct SelectedCopiesTests {
  private let fixture: Fixture
  /// The tiers of two processes.
  private let tiers: [TieredStore]

  init() async throws {
    fixture = try Fixture()
    tiers = try [fixture.store, fixture.other()].map { [fixture] in
      TieredStore(memory: MemoryStore(capacity: 8 << 20, clock: fixture.clock), base: $0)
    }
    let records = [
      try record("/a/1", partition: "p", groups: ["g"]), try record("/a/2", partition: "q", groups: ["h"]),
      CacheRecord(key: other, response: try record("/a/1").response),
    ]
    for record in records { try await tiers[0].store(record, BodyBytes([1])) }
    // The work after opening counts as a change of everything.
    for tier in tiers { await tier.flush() }
    for tier in tiers {
      for record in records { try await copy(record.key, to: tier) }
    }
  }

  private let selected = key("/a/1", partition: "p")
  private let sibling = key("/a/2", partition: "q")
  private let other = CacheKey(mode: .private, partition: "q", target: "https://elsewhere.example/a/1")

  private func copy(_ key: CacheKey, to tier: TieredStore) async throws {
    _ = try await tier.read(key).first?.body.open().read(0..<1)
    try #require(tier.peek(key)?.count == 1)
  }

  /// Whether memory alone answers for a key, in all processes.
  private func isCopied(_ key: CacheKey) -> Bool {
    let answers = tiers.map { $0.peek(key)?.first.map { !$0.record.response.isInvalidated } ?? false }
    #expect(Set(answers).count == 1)
    return answers[0]
  }

  @Test(
    "RFC 9111 §4.4, RFC 9875: copies of other responses stay, and no copy that is selected",
    arguments: [
      Selection(.target("https://example.com/a/1"), keeps: [.sibling, .other]),
      Selection(.partition(mode: .private, "p"), keeps: [.sibling, .other]),
      Selection(.group(origin: "https://example.com", name: "g"), keeps: [.sibling, .other]),
      Selection(.prefix("https://example.com/a/"), keeps: [.other]),
      Selection(.site(origin: "https://example.com", mode: .private, partition: "p"), keeps: [.other]),
      Selection(.all, keeps: []), Selection(.storedSince(Timestamp(seconds: 0)), keeps: []),
    ], [true, false])
  func selections(_ selection: Selection, removes: Bool) async throws {
    // A selection that includes nothing of them comes first: copies are compared more than once.
    try await tiers[1].invalidate(.target("https://example.com/none"))
    for one in [selected, sibling, other] { #expect(isCopied(one)) }
    if removes {
      try await tiers[1].remove(selection.value)
    } else {
      try await tiers[1].invalidate(selection.value)
    }
    for _ in 0..<2 {
      #expect(!isCopied(selected))
      #expect(isCopied(sibling) == selection.keeps.contains(.sibling))
      #expect(isCopied(other) == selection.keeps.contains(.other))
      for tier in tiers {
        let found = try tier.read(selected).first.map { $0.record.response.isInvalidated }
        #expect(found == (removes ? nil : true))
      }
    }
  }

  @Test(
    "a selection without entries ends copies all the same: the process that removed them may have ended before"
  )
  func repeated() async throws {
    let target = CacheSelection.target("https://example.com/a/1")
    for store in [fixture.store, try fixture.other()] {
      try await store.remove(.key(selected))
      try await tiers[0].store(try record("/a/1", partition: "p"), BodyBytes([2]))
      for tier in tiers { try await copy(selected, to: tier) }
      // Not through a tier, and nothing of it is in the index.
      try fixture.execute("DELETE FROM entry WHERE partition = 'p'")
      try await store.remove(target)
      #expect(!isCopied(selected))
      for tier in tiers { #expect(try tier.read(selected).isEmpty) }
    }
  }
}
