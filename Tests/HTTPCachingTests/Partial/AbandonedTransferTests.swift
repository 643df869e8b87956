import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

/// Gives its first bytes, and then ends with an error only once a gate is open; it cannot be cancelled.
private final class SlowlyEndingBody: BodySource {
  private let first: Mutex<BodyBytes?>
  private let gate: Gate
  let length: Int64?
  let trailers: HTTPFields = [:]

  init(_ bytes: [UInt8], length: Int64, gate: Gate) {
    first = Mutex(BodyBytes(bytes))
    self.length = length
    self.gate = gate
  }

  func next() async throws -> BodyBytes? {
    if let bytes = first.withLock({ $0.take() }) { return bytes }
    _ = await Task { [gate] in try await gate.pass() }.result
    throw CancellationError()
  }

  func cancel() {}
}

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
    let gate = Gate()
    let head = HTTPResponse(
      status: .ok, headerFields: [.cacheControl: cacheControl, .eTag: "\"a\"", .acceptRanges: "bytes"])
    test.origin.answers { _ in
      UpstreamResponse(
        head: head,
        body: MessageBody(
          SlowlyEndingBody(RangeOrigin.letters(10), length: Int64(count), gate: gate)))
    }
    do {
      let response = try await test.respond(policy: policy)
      #expect(try await response.body.source.next()?.count == 10)
    }
    await gate.waitForArrivals(1)
    test.origin.answers(nil)
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
    let gate = Gate()
    test.origin.answers { _ in
      UpstreamResponse(
        head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .eTag: "\"a\""]),
        body: MessageBody(SlowlyEndingBody([97], length: 400_000, gate: gate)))
    }
    do {
      let response = try await test.respond()
      #expect(try await response.body.source.next()?.count == 1)
    }
    await gate.waitForArrivals(1)
    test.origin.answers(nil)
    async let again = test.get()
    await test.clock.waitForSleepers(1)
    test.clock.advance(by: 10)
    #expect(try await again.text == test.origin.text)
    gate.open()
  }
}
