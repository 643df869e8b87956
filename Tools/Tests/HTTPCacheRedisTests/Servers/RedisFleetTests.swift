import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheRedis

/// Two nodes whose server refuses.
@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisFleetTests {
  private static let target = "https://example.com/"

  private func node(
    _ name: String, _ server: RedisServer, observer: (any CacheObserver)? = nil
  ) throws -> HTTPCache {
    var configuration = HTTPCache.Configuration(rules: CacheRules(mode: .shared), observer: observer)
    configuration.shared = try server.tier()
    configuration.fleet.nodeName = name
    return try HTTPCache.open(configuration)
  }

  private func get(_ cache: HTTPCache) async throws -> CacheOutcome {
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
    let origin = ScriptedUpstream([.init(headers: ["Cache-Control": "max-age=600"], body: "hello")])
    let response = try await cache.respond(to: request, via: origin)
    _ = try await response.body.collect()
    return response.outcome
  }

  private func purgesReach(_ server: RedisServer) async throws {
    let nodes = [try node("a", server), try node("b", server)]
    for node in nodes {
      #expect(await node.join(within: .seconds(60)))
      _ = try await get(node)
      #expect(try await get(node).isHit)
    }
    try await nodes[0].remove(.target(Self.target))
    try await eventually { try await nodes[1].entries(.all).entries.isEmpty }
    for node in nodes {
      #expect(node.fleetStatus?.isConnected == true && node.fleetStatus?.pendingChanges == 0)
      await node.close()
    }
  }

  @Test("purges reach all nodes of a server whose memory is full")
  func full() async throws {
    let server = try await RedisServer.start(["--maxmemory-policy", "noeviction", "--maxmemory", "1"])
    try await purgesReach(server)
  }

  @Test("purges reach all nodes of a server that refuses their reports")
  func refusedReports() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    try await server.send("SET", String(decoding: tier.keys.nodes, as: UTF8.self), "x")
    try await purgesReach(server)
  }

  @Test("a change that the server refuses waits on its connection, and the log is not read again meanwhile")
  func refusedChange() async throws {
    let server = try await RedisServer.start()
    let events = FleetEvents()
    let node = try node("a", server, observer: events)
    #expect(await node.join(within: .seconds(60)))
    try await server.send("CONFIG", "SET", "min-replicas-to-write", "1")
    let reads = try await logReads(server)
    try await node.remove(.target(Self.target))
    // The follower tries again with each heartbeat.
    try await eventually { events.refusals >= 4 }
    #expect(node.fleetStatus?.pendingChanges == 1)
    #expect(events.disconnections == 0)
    #expect(try await logReads(server) == reads)
    try await server.send("CONFIG", "SET", "min-replicas-to-write", "0")
    try await eventually { node.fleetStatus?.pendingChanges == 0 }
    await node.close()
  }

  /// The line of the server's statistics about the reading of whole logs.
  private func logReads(_ server: RedisServer) async throws -> Substring? {
    try await server.send("INFO", "commandstats").text?.split(separator: "\r\n")
      .first { $0.hasPrefix("cmdstat_xrange:") }
  }
}

/// Counts events of a fleet.
private final class FleetEvents: CacheObserver {
  private let counts = Mutex((refusals: 0, disconnections: 0))

  var refusals: Int { counts.withLock { $0.refusals } }
  var disconnections: Int { counts.withLock { $0.disconnections } }

  func observe(_ event: CacheEvent) {
    if case .fleet(.failed(operation: "add a change", _)) = event { counts.withLock { $0.refusals += 1 } }
    if case .fleet(.disconnected) = event { counts.withLock { $0.disconnections += 1 } }
  }
}
