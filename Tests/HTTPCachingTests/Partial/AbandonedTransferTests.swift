import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A body whose reader left is continued from what was kept", .timeLimit(.minutes(10)))
struct AbandonedTransferTests {
  /// Reads the first ten bytes of a longer body, leaves, and asks again before the store has kept them.
  private func askAgain(
    _ kind: StoreKind, cacheControl: String, policy: CachePolicy = .standard
  ) async throws -> (answer: TestAnswer, range: String?) {
    let count = 400_000
    let test = try TestCache(
      kind,
      origin: RangeOrigin(count: count, [.cacheControl: cacheControl, .eTag: "\"a\""]))
    let (gate, slow) = (Gate(), TestOrigin())
    slow.streams([.cacheControl: cacheControl, .eTag: "\"a\"", .acceptRanges: "bytes"]) { _ in
      WaitingBody(RangeOrigin.letters(10), length: Int64(count), gate: gate)
    }
    do {
      let response = try await test.cache.respond(to: test.request("/"), policy: policy, via: slow)
      #expect(try await response.body.source.next()?.count == 10)
    }
    await gate.waitForArrivals(1)
    let again = Task { try await test.get(policy: policy) }
    await test.clock.waitForSleepers(1)
    gate.open()
    let answer = try await again.value
    #expect(answer.text == test.origin.text)
    return (answer, try test.lastRequest()[.range])
  }

  @Test("the next request waits until the first bytes are kept", arguments: StoreKind.allCases)
  func waits(kind: StoreKind) async throws {
    let (_, range) = try await askAgain(kind, cacheControl: "max-age=60")
    #expect(range == "bytes=10-")
  }

  @Test("also for a response that followers may not share", arguments: StoreKind.allCases)
  func unshared(kind: StoreKind) async throws {
    let (_, range) = try await askAgain(kind, cacheControl: "no-cache")
    #expect(range == "bytes=10-")
  }

  @Test("a source that never ends holds up the next request for seconds only")
  func neverEnding() async throws {
    let test = try TestCache(.memory)
    let (gate, slow) = (Gate(), TestOrigin())
    slow.streams([.cacheControl: "max-age=60", .eTag: "\"a\""]) { _ in
      WaitingBody([97], length: 400_000, gate: gate)
    }
    do {
      let response = try await test.cache.respond(to: test.request("/"), via: slow)
      #expect(try await response.body.source.next()?.count == 1)
    }
    await gate.waitForArrivals(1)
    async let again = test.get()
    await test.clock.waitForSleepers(1)
    test.clock.advance(by: 10)
    #expect(try await again.text == test.origin.text)
    gate.open()
  }
}
