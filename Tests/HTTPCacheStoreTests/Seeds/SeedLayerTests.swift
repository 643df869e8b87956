import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("SeedLayer answers from seeds while nothing newer is stored", .timeLimit(.minutes(10)))
struct SeedLayerTests {
  private let made = Timestamp(seconds: 1_600_000_000)
  private let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  private let key = CacheKey(mode: .private, target: "https://example.com/a")
  private let other = CacheKey(mode: .private, target: "https://example.com/b")

  private func seeds(_ text: String = "seed", _ fields: HTTPFields = [:]) throws -> ListedSeeds {
    ListedSeeds([
      try #require(ListedSeeds.seed(key.target, fields: fields, text: text, at: made)),
      try #require(ListedSeeds.seed(other.target, fields: fields, text: "other", at: made)),
    ])
  }

  private func layer(
    _ sources: [any SeedSource], marks: String? = nil, base: (any CacheStore)? = nil
  ) -> SeedLayer {
    SeedLayer(
      base: base ?? MemoryStore(capacity: 1 << 20, clock: clock), seeds: sources, marksPath: marks,
      clock: clock
    ) { _, _ in }
  }

  private func text(_ store: any CacheStore, _ key: CacheKey) async throws -> String? {
    guard let variant = try store.read(key).first else { return nil }
    return String(decoding: try await variant.body.open().readAll(), as: UTF8.self)
  }

  private func store(_ text: String, in store: any CacheStore, ticket: InvalidationTicket? = nil) async throws
  {
    let record = StoreSample.record(key).with(ticket: ticket ?? store.ticket())
    try await store.store(record, BodyBytes(Array(text.utf8)))
  }

  @Test("a seed answers in every partition, and a stored response hides it")
  func order() async throws {
    let layer = layer([try seeds()])
    #expect(layer.peek(key) == nil, "a seed is not in memory")
    #expect(try await text(layer, key) == "seed")
    #expect(try layer.read(key).first?.record.isSeed == true)
    let account = CacheKey(mode: .private, partition: "account", target: key.target)
    #expect(try await text(layer, account) == "seed")
    try await store("newer", in: layer)
    #expect(try await text(layer, key) == "newer")
    #expect(layer.peek(key)?.count == 1, "a stored response is in memory")
    #expect(try await text(layer, account) == "seed")
  }

  @Test("the first source that has the target answers; a source that fails is passed over and reported")
  func severalSources() async throws {
    let failures = Mutex<[String]>([])
    let broken = ListedSeeds([], name: "broken", failing: CacheError(.io, "a test"))
    let layer = SeedLayer(
      base: MemoryStore(capacity: 1 << 20), seeds: [broken, try seeds("first"), try seeds("second")],
      clock: clock
    ) { operation, _ in failures.withLock { $0.append(operation) } }
    #expect(try await text(layer, key) == "first")
    #expect(failures.withLock { $0 } == ["read broken"])
  }

  @Test("a shared cache does not answer from a private seed")
  func privateSeed() throws {
    let layer = layer([try seeds("mine", [.cacheControl: "private"])])
    #expect(try layer.read(CacheKey(mode: .shared, target: key.target)).isEmpty)
    #expect(try layer.read(key).count == 1)
  }

  @Test(
    "a removed seed does not answer, and others do",
    arguments: [
      CacheSelection.target("https://example.com/a"), .prefix("https://example.com/a"),
      .key(CacheKey(mode: .private, target: "https://example.com/a")),
    ])
  func removed(_ selection: CacheSelection) async throws {
    let layer = layer([try seeds()])
    try await layer.remove(selection)
    #expect(try layer.read(key).isEmpty)
    #expect(try await text(layer, other) == "other")
    try await store("newer", in: layer)
    #expect(try await text(layer, key) == "newer")
  }

  @Test(
    "removing and invalidating more than one target covers seeds",
    arguments: [
      CacheSelection.all, .partition(mode: .private, ""), .prefix("https://example.com/"),
      .prefix("https://exam"), .site(origin: "https://example.com", mode: .private, partition: ""),
      .group(origin: "https://example.com", name: "g"),
    ])
  func wide(_ selection: CacheSelection) async throws {
    let groups = HTTPField.Name.cacheGroups
    let layer = layer([try seeds("seed", [groups: "\"g\""])])
    try await layer.invalidate(selection)
    for key in [key, other] { #expect(try layer.read(key).first?.record.response.isInvalidated == true) }
    try await layer.remove(selection)
    for key in [key, other] { #expect(try layer.read(key).isEmpty) }
  }

  @Test("selections of other entries, and by time, leave seeds alone")
  func unrelated() async throws {
    let layer = layer([try seeds()])
    for selection in [
      CacheSelection.target("https://example.com/c"), .prefix("https://example.com/c"),
      .partition(mode: .private, "account"), .group(origin: "https://example.com", name: "g"),
      .site(origin: "https://example.org", mode: .private, partition: ""), .storedSince(made),
      .storedBefore(clock.now), .unusedSince(clock.now),
    ] {
      try await layer.remove(selection)
      try await layer.invalidate(selection)
    }
    try await layer.wipe(mode: .private, partition: "")
    for key in [key, other] { #expect(try layer.read(key).first?.record.response.isInvalidated == false) }
  }

  @Test("freshening copies the seed with its new record; the copy stays a seed")
  func freshened() async throws {
    let base = MemoryStore(capacity: 8 << 20)
    let layer = layer([try seeds(String(repeating: "x", count: 600_000))], base: base)
    let seed = try #require(try layer.read(key).first?.record)
    var response = seed.response
    response.responseTime = clock.now
    #expect(try await layer.update(seed.with(response: response, ticket: layer.ticket())))
    let variants = try base.read(key)
    #expect(variants.map(\.record.response.responseTime) == [clock.now])
    #expect(variants.first?.record.isSeed == true)
    #expect(try await text(layer, key)?.count == 600_000)
  }

  @Test("a seed that is too large for the store stays as it is when it is freshened")
  func tooLarge() async throws {
    let layer = layer([try seeds(String(repeating: "x", count: 600_000))])
    let seed = try #require(try layer.read(key).first?.record)
    #expect(try await !layer.update(seed.with(ticket: layer.ticket())))
    #expect(try await text(layer, key)?.count == 600_000)
    #expect(layer.usage.memoryEntries == 0)
  }

  @Test("a freshening that a removal overtook does not bring the seed back unvalidated")
  func overtaken() async throws {
    let layer = layer([try seeds()])
    let seed = try #require(try layer.read(key).first?.record)
    let ticket = layer.ticket()
    try await layer.invalidate(.target(key.target))
    _ = try await layer.update(seed.with(ticket: ticket))
    #expect(try layer.read(key).allSatisfy { $0.record.response.isInvalidated })
    try await layer.remove(.target(key.target))
    #expect(try await !layer.update(seed.with(ticket: layer.ticket())))
  }

  @Test("the list has stored responses and the seeds that they do not hide, in pages of any size")
  func listing() async throws {
    let layer = layer([try seeds("first"), try seeds("second")])
    try await store("newer", in: layer)
    for limit in 1...3 {
      var (found, cursor): ([CacheEntry], EntryCursor?) = ([], nil)
      repeat {
        let page = try await layer.entries(.all, after: cursor, limit: limit)
        found += page.entries
        cursor = page.next
      } while cursor != nil
      #expect(found.map(\.record.key.target) == [key.target, other.target])
      #expect(found.map(\.record.isSeed) == [false, true])
    }
    let page = try await layer.entries(.prefix("https://example.com/b"), after: nil, limit: 8)
    #expect(page.entries.map(\.record.key.target) == [other.target] && page.next == nil)
  }

  @Test("over a tiered store, the list has each entry that is only in memory once", arguments: 1...3)
  func tieredListing(limit: Int) async throws {
    let below = DiskLikeStore(capacity: 1 << 20, largestEntry: .default, clock: clock)
    let tier = TieredStore(memory: MemoryStore(capacity: 1 << 20, clock: clock), base: below)
    let layer = layer([try seeds()], base: tier)
    let paths = ["/x", "/y", "/z"]
    for path in paths {
      let record = StoreSample.memoryOnly(StoreSample.key(path)).with(ticket: layer.ticket())
      let writer = try await layer.write(record, variantLimit: 8)
      try await writer.append(BodyBytes(Array(path.utf8)))
      try await writer.commit(trailers: [:])
    }
    var (found, cursor): ([String], EntryCursor?) = ([], nil)
    // A wrong cursor must not make the test endless.
    for _ in 0..<16 {
      let page = try await layer.entries(.all, after: cursor, limit: limit)
      found += page.entries.map(\.record.key.target)
      cursor = page.next
      if cursor == nil { break }
    }
    #expect(found.sorted() == [key.target, other.target] + paths.map { "https://example.com" + $0 })
  }
}
