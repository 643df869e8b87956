import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("TieredStore: responses of both tiers", .timeLimit(.minutes(10)))
struct TieredRecencyTests {
  private let key = StoreSample.key()
  private let base = DiskLikeStore()

  private func record(_ tag: String, made seconds: Int64, isMemoryOnly: Bool) -> CacheRecord {
    let time = StoreSample.start.adding(seconds)
    let sample = CacheRecord(
      key: StoreSample.key(), response: StoreSample.response(time: time, tag: tag), isMemoryOnly: isMemoryOnly
    )
    var response = sample.response
    response.head.headerFields[.date] = time.httpDate
    return sample.with(response: response)
  }

  private func begin(_ record: CacheRecord, in store: any CacheStore) async throws -> any BodyWriter {
    let writer = try await store.write(record.with(ticket: store.ticket()), variantLimit: 8)
    try await writer.append(StoreSample.body(100))
    return writer
  }

  @Test("a number tells one response of a key, whichever tier has it")
  func numbers() async throws {
    let tier = base.tier()
    let below = try await begin(StoreSample.record(language: "de"), in: tier).commit(trailers: [:])
    let own = try await begin(StoreSample.memoryOnly(language: "en"), in: tier)
      .commit(trailers: [:])
    #expect(below.sequence != own.sequence)
    #expect(try await tier.invalidate(.variant(key, sequence: own.sequence)) == 1)
    for record in try tier.read(key).map(\.record) {
      #expect(record.response.isInvalidated == record.isMemoryOnly)
    }
    #expect(try await tier.remove(.variant(key, sequence: own.sequence)) == 1)
    #expect(try tier.read(key).map(\.record.isMemoryOnly) == [false])
  }

  @Test(
    "an older response that ends later does not take the place of a more recent one in the other tier (RFC 9111 §4)",
    arguments: [true, false])
  func otherTier(isSlowMemoryOnly: Bool) async throws {
    let tier = base.tier()
    let slow = try await begin(record("\"1\"", made: 0, isMemoryOnly: isSlowMemoryOnly), in: tier)
    let next = try await begin(record("\"2\"", made: 5, isMemoryOnly: !isSlowMemoryOnly), in: tier)
    try await next.commit(trailers: [:])
    let error = await #expect(throws: CacheError.self) { try await slow.commit(trailers: [:]) }
    #expect(error?.code == .superseded)
    let left = try tier.read(key).map(\.record)
    #expect(left.map(\.response.head.headerFields[.eTag]) == ["\"2\""])
    #expect(left.map(\.response.isInvalidated) == [false])

    // The response to a later request replaces it, whatever its date.
    let last = try await begin(record("\"3\"", made: -60, isMemoryOnly: isSlowMemoryOnly), in: tier)
    try await last.commit(trailers: [:])
    #expect(try tier.read(key).first?.record.response.head.headerFields[.eTag] == "\"3\"")
  }

  @Test("a body that was overtaken in memory no longer counts, nor keeps others out (RFC 9111 §4)")
  func reservation() async throws {
    let store = MemoryStore(capacity: 1 << 20, largestEntry: .bytes(1 << 20))
    let slow = try await store.write(
      record("\"1\"", made: 0, isMemoryOnly: false).with(ticket: store.ticket()), variantLimit: 8)
    try await slow.append(StoreSample.body(600_000))
    let reader = try slow.reader()
    try await begin(record("\"2\"", made: 5, isMemoryOnly: false), in: store).commit(trailers: [:])
    let error = await #expect(throws: CacheError.self) { try await slow.commit(trailers: [:]) }
    #expect(error?.code == .superseded)
    #expect(store.usage.memoryBytes < 10_000)
    let next = try await store.write(StoreSample.record(StoreSample.key("/b")), variantLimit: 8)
    try await next.append(StoreSample.body(900_000))
    try await next.commit(trailers: [:])
    #expect(try store.read(StoreSample.key("/b")).count == 1)
    #expect(try await reader.read(0..<600_000).array == StoreSample.body(600_000).array)
  }

  @Test("copies in memory are invalidated also if the store below refuses it")
  func refusedInvalidation() async throws {
    let faulty = FaultyStore(base)
    let tier = TieredStore(memory: MemoryStore(capacity: 8 << 20), base: faulty)
    try await begin(StoreSample.record(), in: tier).commit(trailers: [:])
    faulty.fail(.invalidate, with: CacheError(.busy, "made to fail"))
    await #expect(throws: CacheError.self) { try await tier.invalidate(.key(key)) }
    #expect(tier.peek(key)?.map(\.record.response.isInvalidated) == [true])
  }
}
