import HTTPCacheTesting
import Synchronization
import Testing

@testable import HTTPCaching

@Suite(
  "The body of a validation in the background does not keep its place for ever", .timeLimit(.minutes(10)))
struct BackgroundPaceTests {
  /// A body with five minutes before each piece, which is as long as a fetch may be ahead of its reader: so the reader waits
  /// for most of them, however the two take turns.
  private final class DrippingBody: BodySource {
    let length: Int64? = nil
    let trailers: HTTPFields = [:]
    private let clock: ManualClock
    private let left = Mutex(1_000)

    init(_ clock: ManualClock) { self.clock = clock }

    func next() async throws -> BodyBytes? {
      let isThere = left.withLock { left in
        left -= 1
        return left > 0
      }
      guard isThere else { return nil }
      clock.advance(by: .seconds(300))
      return BodyBytes(repeatElement(1, count: Int(TransferState.window)))
    }

    func cancel() { left.withLock { $0 = 0 } }
  }

  @Test("a body that drips is given up, and the observer is told")
  func dripping() async throws {
    let test = TestCache()
    try await test.store([.cacheControl: "max-age=60, stale-while-revalidate=600"], "old")
    test.clock.advance(by: .seconds(100))
    test.origin.streams([.cacheControl: "max-age=60"]) { [clock = test.clock] _ in DrippingBody(clock) }
    #expect(try await test.get("/").text == "old")
    await test.origin.arrived(2)
    try await until { test.cache.engine.background.count == 0 }
    let failures = test.events.count {
      if case .upstreamFailed(_, let error) = $0 { error.kind == .timeout } else { false }
    }
    #expect(failures == 1)
  }

  @Test("a body may take ten minutes, and a second more for each 16 KiB")
  func pace() {
    for (received, seconds, isTooSlow) in [
      (0, 600, false), (1, 601, true), (16 << 10, 601, false), (16 << 20, 1_624, false),
      (16 << 20, 1_625, true),
    ] {
      #expect(
        BackgroundPace.isTooSlow(Int64(received), after: .seconds(seconds)) == isTooSlow,
        "\(received) \(seconds)")
    }
  }
}
