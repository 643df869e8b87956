import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheRedis

/// Two nodes whose server refuses.
@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisFleetTests {
  private static let target = "https://example.com/"

  private func node(_ name: String, _ server: RedisServer) throws -> HTTPCache {
    var configuration = HTTPCache.Configuration(rules: CacheRules(mode: .shared))
    configuration.shared = try server.tier()
    configuration.fleet.nodeName = name
    return try HTTPCache.open(configuration)
  }

  private func get(_ cache: HTTPCache) async throws -> CacheOutcome {
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
    let response = try await cache.respond(to: request, via: FreshOrigin())
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
    await tier.close()
  }
}

private struct FreshOrigin: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    UpstreamResponse(
      head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=600"]),
      body: MessageBody(BodyBytes(Array("hello".utf8))))
  }
}
