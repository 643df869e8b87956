import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Testing

/// A response to a request that was sent before its resource changed is not reused after the change without
/// validation (RFC 9111 §4.4), whatever made the change, at whatever moment, and in whatever store.
@Suite(.timeLimit(.minutes(10)))
struct Section4_4_OvertakenTests {
  @Test(arguments: StoreChoice.allCases, ResourceChange.allCases)
  func overtaken(_ choice: StoreChoice, by change: ResourceChange) async throws {
    for moment in ChangeMoment.allCases {
      let directory = try SealedDirectory()
      let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
      let (store, other) = try choice.make(in: directory, clock)
      if change.needsOtherProcess, other == nil { return }
      let origin = ChangingOrigin(moment)
      let upstream = origin.makeUpstream()
      let hook = StoringHook { _, proposal in
        try await origin.reached(.duringHook)
        return proposal
      }
      let cache = HTTPCache(
        configuration: HTTPCache.Configuration(willStore: hook, clock: clock), store: store)
      origin.onMoment { try await change.make(cache, other, via: upstream) }
      try await origin.reached(.beforeSending)
      #expect(try await text(cache, upstream) == "11", "\(moment)")
      let isOvertaken = moment != .beforeSending
      #expect(try await text(cache, upstream) == (isOvertaken ? "22" : "11"), "\(moment)")
      #expect(try await text(cache, upstream) == (isOvertaken ? "22" : "11"), "\(moment)")
      #expect(origin.requests == (isOvertaken ? 2 : 1), "\(moment)")
    }
  }

  private func text(_ cache: HTTPCache, _ upstream: any Upstream) async throws -> String {
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/page")
    let response = try await cache.respond(to: request, via: upstream)
    return String(decoding: try await response.body.collect().array, as: UTF8.self)
  }

  @Test(
    "a request that comes after the change joins no flight that began before it",
    arguments: ResourceChange.allCases)
  func joining(_ change: ResourceChange) async throws {
    let directory = try SealedDirectory()
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let (store, other) = try StoreChoice.tiered.make(in: directory, clock)
    for moment in [ChangeMoment.beforeHead, .duringBody] {
      let origin = ChangingOrigin(moment)
      let upstream = origin.makeUpstream()
      let cache = HTTPCache(configuration: HTTPCache.Configuration(clock: clock), store: store)
      let (changed, gate) = (Gate(), Gate())
      origin.onMoment {
        try await change.make(cache, other, via: upstream)
        changed.open()
        try await gate.pass()
      }
      async let first = text(cache, upstream)
      try await changed.pass()
      #expect(try await text(cache, upstream) == "22", "\(moment)")
      gate.open()
      #expect(try await first == "11", "\(moment)")
      try await cache.removeAll()
    }
  }
}
