import HTTPCacheHummingbird
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting
import Testing

@Suite("Purging by requests of a server", .timeLimit(.minutes(10))) struct PurgingTests {
  private let app = CachedApp()
  private let calls = Counter()
  private let origin = RequestOrigin.fixed(scheme: "https", authority: "www.example.com")

  @Test("a route removes or invalidates another path of its site, or its own")
  func paths() async throws {
    let (cache, origin) = (app.cache, origin)
    try await app.run(CacheMiddleware(cache, origin: origin)) { [calls] in
      $0.get("list") { _, _ in answer("\(calls.increment())") }
      $0.get("refresh") { request, _ in
        let count = try await cache.remove(origin.absolute(request, path: "/list?page=2"))
        return answer("\(count)", [.cacheControl: "no-store"])
      }
      $0.get("expire") { request, _ in
        try await cache.invalidate(origin.absolute(request, path: "/list"))
        return answer("", [.cacheControl: "no-store"])
      }
    } _: { server async throws in
      for body in ["1", "1"] { #expect(try await server.send(.GET, "/list").body == body) }
      for body in ["2", "2"] { #expect(try await server.send(.GET, "/list?page=2").body == body) }
      #expect(try await server.send(.GET, "/refresh").body == "1")
      #expect(try await server.send(.GET, "/refresh").body == "0")
      #expect(try await server.send(.GET, "/list?page=2").body == "3")
      #expect(try await server.send(.GET, "/list").body == "1")
      _ = try await server.send(.GET, "/expire")
      #expect(try await server.send(.GET, "/list").body == "4")
    }
  }

  @Test("a request without origin, and a path without a slash, are errors")
  func errors() async throws {
    let (cache, origin) = (app.cache, origin)
    try await app.run(CacheMiddleware(cache, origin: origin)) {
      $0.get("a") { request, _ in
        let nowhere = RequestOrigin { _ in (nil, nil) }
        await #expect(throws: CacheError.self) { try await cache.remove(nowhere.absolute(request)) }
        await #expect(throws: CacheError.self) {
          try await cache.invalidate(origin.absolute(request, path: "list"))
        }
        return answer("done")
      }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a").body == "done")
    }
  }

  @Test("groups: a purge by name reaches all responses that name the group")
  func groups() async throws {
    let cache = app.cache
    try await app.run(CacheMiddleware(cache, origin: origin)) { [calls] in
      $0.get(":name") { _, context in
        let group = context.parameters.get("name") == "about" ? "\"pages\"" : "\"articles\""
        return answer("\(calls.increment())", [.cacheControl: "max-age=60", .cacheGroups: group])
      }
    } _: { server async throws in
      for (path, body) in [("/one", "1"), ("/two", "2"), ("/about", "3"), ("/one", "1")] {
        #expect(try await server.send(.GET, path).body == body)
      }
      try await cache.invalidate(.group(origin: "https://www.example.com", name: "articles"))
      for (path, body) in [("/one", "4"), ("/two", "5"), ("/about", "3")] {
        #expect(try await server.send(.GET, path).body == body)
      }
    }
  }
}
