import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// The answer to a purge tells how many nodes of the fleet have applied it.
@Suite(.timeLimit(.minutes(10))) struct PurgeReportTests {
  /// A cache of a fleet that has a response for `http://h/a`.
  private func node(_ name: String, _ tier: LoopbackTier, _ observer: EventCounts? = nil) async throws
    -> HTTPCache
  {
    var configuration = HTTPCache.Configuration(
      memoryCapacity: 1 << 20, rules: CacheRules(mode: .shared), observer: observer)
    configuration.shared = tier
    configuration.fleet = FleetOptions(nodeName: name)
    let cache = try HTTPCache.open(configuration)
    #expect(await cache.join(within: .seconds(60)))
    let upstream = ScriptedUpstream { _ in
      ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "body")
    }
    let response = try await cache.respond(
      to: HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/a"), via: upstream)
    _ = try await response.body.collect()
    return cache
  }

  private let selection: [CacheSelection] = [.target("http://h/a")]

  @Test("without a fleet: the number alone, and 200")
  func alone() async throws {
    let cache = try HTTPCache.open(
      HTTPCache.Configuration(memoryCapacity: 1 << 20, rules: CacheRules(mode: .shared)))
    let report = try await PurgeReport.purge(selection, isSoft: false, from: cache)
    #expect(report.status == 200 && report.json == "{\"removed\":0}")
  }

  @Test("each node has applied it: 200; the nodes that have not: 202; without the tier: 202, and what waits")
  func fleet() async throws {
    let server = LoopbackServer(clock: SystemClock())
    let (first, second) = (LoopbackTier(server), LoopbackTier(server))
    let counts = EventCounts()
    let cache = try await node("first", first)
    let other = try await node("second", second, counts)
    // A node is listed once it has told of itself, which joining does not wait for.
    try await eventually { try await first.nodes().count == 2 }
    let whole = try await PurgeReport.purge(
      selection, isSoft: true, from: cache, patience: .seconds(60))
    #expect(whole.status == 200)
    #expect(whole.json == "{\"expired\":1,\"fleet\":{\"applied\":2,\"nodes\":2,\"pending\":0}}")
    var text = PrometheusText()
    counts.addFleet(to: &text)
    #expect(text.text.contains("\nhttpcache_fleet_applied_changes_total 1\n"), "\(text.text)")
    second.isAway = true
    let partial = try await PurgeReport.purge(selection, isSoft: false, from: cache, patience: .zero)
    #expect(partial.status == 202)
    #expect(partial.json == "{\"removed\":1,\"fleet\":{\"applied\":1,\"nodes\":2,\"pending\":0}}")
    first.isAway = true
    let none = try await PurgeReport.purge(selection, isSoft: false, from: cache)
    #expect(none.status == 202)
    #expect(none.json == "{\"removed\":0,\"fleet\":{\"applied\":null,\"nodes\":null,\"pending\":1}}")
    await cache.close()
    await other.close()
  }
}
