import HTTPCacheSemantics
import HTTPCacheTesting
import Synchronization
import Testing

@testable import HTTPCaching

@Suite("Transfers that are not stored", .timeLimit(.minutes(5)))
struct UnstoredTransferTests {
  private let test = TestCache()

  /// A transfer of a body that the store refuses at its commit, and can no longer read.
  private func unstored(_ body: any BodySource, readsFail: Int = 1) async throws -> Transfer {
    let store = FaultyStore(MemoryStore(capacity: 64 << 20))
    let request = test.request("/")
    let engine = test.cache.engine
    var exchange = try engine.lookup.exchange(for: request, policy: .standard, options: RequestOptions())
    try await test.store([.cacheControl: "max-age=10"], "stored")
    let stored = try #require(try test.cache.store.read(exchange.key).first).record.response
    try await test.cache.store.remove(.all)
    let record = CacheRecord(key: exchange.key, response: stored, bodyLength: body.length)
    let writer = try await store.write(record, variantLimit: 8)
    store.fail(.commit)
    store.fail(.reader, times: readsFail)
    let forward = exchange.makeForward(.miss(.absent))
    let entry = IncomingEntry(
      StoringTerms(response: stored), head: stored.head,
      to: Conversation(exchange: exchange, variants: [], forward: forward),
      storedAs: exchange.key, in: engine)
    return Transfer(
      body: MessageBody(body), extent: TransferExtent(length: body.length), writer: writer, entry: entry,
      clock: test.clock, executor: nil)
  }

  @Test("a transfer that has ended and was not stored gives no body whose first bytes are gone")
  func ended() async throws {
    let piece = [UInt8](repeating: 1, count: 64 << 10)
    let transfer = try await unstored(
      TestBody(piece: piece, count: 4, announced: 256 << 10), readsFail: .max)
    let leader = MessageBody(try #require(transfer.makeSource()))
    transfer.start()
    #expect(try await leader.collect().count == 256 << 10)
    await transfer.ended()
    #expect(transfer.makeSource() == nil)
  }

  @Test(
    "a slow reader gets the whole body where the last bytes take the place of what it needs, and none are stored"
  )
  func slowReader() async throws {
    let piece = [UInt8](repeating: 1, count: 300 << 10)
    let transfer = try await unstored(
      TestBody(piece: piece, count: 4, announced: 1200 << 10), readsFail: .max)
    let body = MessageBody(try #require(transfer.makeSource()))
    transfer.start()
    await transfer.ended()
    #expect(try await body.collect().count == 1200 << 10)
  }

  @Test("a follower that is handed a transfer that has ended and was not stored asks for itself")
  func follower() async throws {
    let transfer = try await unstored(TestBody(piece: [1], count: 9, announced: 9), readsFail: .max)
    let key = try test.cache.engine.lookup.exchange(
      for: test.request("/"), policy: .standard, options: RequestOptions()
    ).key
    test.origin.always(200, [.cacheControl: "max-age=10"], "new")
    guard case .lead(let hold) = test.cache.engine.join(key) else {
      Issue.record("the first request leads")
      return
    }
    let follower = Task { try await test.get("/", options: RequestOptions(timeout: .seconds(5))) }
    await test.clock.waitForSleepers()
    let leader = MessageBody(try #require(transfer.makeSource()))
    transfer.start()
    _ = try await leader.collect()
    await transfer.ended()
    hold.share(try shared(transfer))
    #expect(try await follower.value.text == "new")
  }

  @Test("a follower reads on where the leader leaves as soon as it has the head")
  func leaderLeaves() async throws {
    let transfer = try await unstored(
      TestBody(piece: [UInt8](repeating: 1, count: 64 << 10), count: 64, announced: nil))
    let key = CacheKey(mode: .private, target: "https://example.com/")
    let coalescing = Coalescing(clock: test.clock)
    guard case .lead(let hold) = coalescing.join(key), case .wait(let flight) = coalescing.join(key) else {
      Issue.record("the first request leads, the second waits")
      return
    }
    let news = Task { try await coalescing.news(of: key, flight: flight, within: .seconds(9)) }
    await test.clock.waitForSleepers()
    let leader = MessageBody(try #require(transfer.makeSource()))
    hold.share(try shared(transfer))
    leader.source.cancel()
    guard case .share(let shared) = try await news.value else {
      Issue.record("the follower shares")
      return
    }
    transfer.start()
    let body = try #require(try await shared.makeBody(startingWithin: nil))
    #expect(try await body.collect().count == 4 << 20)
    hold.lookAgain()
  }

  /// A transfer as the leader of a flight shares it.
  private func shared(_ transfer: Transfer) throws -> FlightTransfer {
    let stored = try StoredResponse.make(
      request: test.request("/"),
      response: ReceivedResponse(
        HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=10"]),
        requestTime: test.clock.now, responseTime: test.clock.now), isDecoded: false,
      rules: test.cache.configuration.rules, digest: test.cache.engine.lookup.digest)
    return FlightTransfer(response: stored, transfer: transfer, groups: [], isFromTier: false)
  }
}
