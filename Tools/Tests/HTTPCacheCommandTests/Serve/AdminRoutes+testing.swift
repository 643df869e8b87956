import Foundation
import HTTPCacheProxy
import HTTPCacheTesting
import HTTPCaching
import NIOCore
import NIOPosix
import Testing

@testable import HTTPCacheCommand

/// Runs `body` with the routes of a proxy whose cache has two responses of `http://h`.
///
/// - Parameter origin: its origin, for tests that ask the proxy.
func withAdminRoutes(
  origin: Origin = Origin(isSecure: false, host: "h"), _ body: (AdminRoutes) async throws -> Void
) async throws {
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(memoryCapacity: 1 << 20, rules: CacheRules(mode: .shared)))
  let upstream = ScriptedUpstream { _ in
    ScriptedResponse(headers: ["Cache-Control": "max-age=86400", "Cache-Groups": "\"news\""], body: "body")
  }
  for path in ["/a", "/b"] {
    let response = try await cache.respond(
      to: HTTPRequest(method: .get, scheme: "http", authority: "h", path: path), via: upstream)
    _ = try await response.body.collect()
  }
  let group = MultiThreadedEventLoopGroup.singleton
  let server = try await ProxyServer.start(
    ProxyServer.Configuration(
      host: "127.0.0.1", port: 0,
      mode: .gateway([GatewayRoute(to: OriginGroup(origin))])),
    cache: cache, upstream: try NIOUpstream(group: group, configuration: .init()), group: group)
  let routes = AdminRoutes(cache: cache, server: server, events: EventCounts())
  do {
    try await body(routes)
  } catch {
    await server.shutDown(deadline: .zero)
    throw error
  }
  await server.shutDown(deadline: .zero)
  #expect(await routes.get("/readyz").status == 503)
  #expect(await routes.get("/healthz").status == 200)
}

extension AdminRoutes {
  func send(_ method: String, _ target: String, hasToken: Bool = true) async -> AdminResponse {
    await answer(AdminRequest(method: method, target: target, hasToken: hasToken))
  }

  func get(_ target: String) async -> AdminResponse { await send("GET", target, hasToken: false) }

  func object(_ target: String) async throws -> [String: Any] {
    let answer = await get(target)
    #expect(answer.status == 200)
    #expect(answer.contentType == "application/json")
    return try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
  }
}
