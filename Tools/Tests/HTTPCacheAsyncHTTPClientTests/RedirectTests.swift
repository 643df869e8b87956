import AsyncHTTPClient
import Foundation
import HTTPCacheAsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct RedirectTests {
  private static func routes(_ redirects: Counter, _ targets: Counter) -> Routes {
    let routes = Routes()
    routes.get("old") { _, _ in
      redirects.increment()
      return answer("moved", [.location: "/new", .cacheControl: "max-age=60"], status: .movedPermanently)
    }
    routes.get("new") { _, _ in
      targets.increment()
      return answer("here")
    }
    return routes
  }

  @Test("a redirect is followed through the cache: both responses are stored and found again")
  func followed() async throws {
    let redirects = Counter()
    let targets = Counter()
    try await CachedOrigin.run(Self.routes(redirects, targets)) { origin async throws in
      for isHit in [false, true] {
        let (response, body) = try await origin.get("/old")
        #expect(body == "here")
        #expect(response.url?.absoluteString == origin.server.base + "/new")
        #expect(response.redirects.map(\.isHit) == [isHit])
        #expect(response.cacheOutcome.isHit == isHit)
      }
      #expect(redirects.value == 1 && targets.value == 1)
    }
  }

  @Test("with a limit of 0, the caller gets the redirect")
  func handedOver() async throws {
    try await CachedOrigin.run(Self.routes(Counter(), Counter()), redirectLimit: 0) { origin async throws in
      let (response, body) = try await origin.get("/old")
      #expect(response.status == .movedPermanently)
      #expect(response.headers.first(name: "Location") == "/new")
      #expect(body == "moved")
    }
  }

  @Test("a client that follows redirects itself never stores a target as the redirect")
  func followedByClient() async throws {
    let redirects = Counter()
    let targets = Counter()
    try await TestServer.run(Self.routes(redirects, targets).buildResponder()) { origin async throws in
      let cache = try HTTPCache.open(HTTPCache.Configuration())
      let client = CachedHTTPClient(cache: cache, sharing: .shared)
      for _ in 0..<2 {
        let response = try await client.get(url: origin.base + "/old")
        #expect(String(buffer: try await response.body.collect(upTo: 10)) == "here")
        #expect(response.redirects.count == 1)
        #expect(response.url?.absoluteString == origin.base + "/new")
      }
      let direct = try await client.get(url: origin.base + "/new", cachePolicy: .cacheOnly)
      #expect(direct.cacheOutcome.isHit)
      try await client.shutdown()
      // The shared client still works.
      let alive = try await HTTPClient.shared.execute(
        HTTPClientRequest(url: origin.base + "/new"), timeout: .seconds(120))
      #expect(alive.status == .ok)
    }
  }
}
