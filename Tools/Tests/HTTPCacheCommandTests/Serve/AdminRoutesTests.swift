import Foundation
import HTTPCacheProxy
import HTTPCacheTesting
import HTTPCaching
import NIOCore
import NIOPosix
import Testing

@testable import HTTPCacheCommand

@Suite("What the admin listener of serve answers", .timeLimit(.minutes(10))) struct AdminRoutesTests {
  @Test("metrics, statistics and health of a proxy")
  func reading() async throws {
    try await withAdminRoutes { routes in
      #expect(await routes.get("/readyz").body == "ready\n")
      let metrics = await routes.get("/metrics")
      #expect(metrics.contentType == "text/plain; version=0.0.4; charset=utf-8")
      for line in [
        "httpcache_connections 0", "httpcache_stores_total 2", "httpcache_evictions_total 0",
        "httpcache_store_entries{tier=\"memory\"} 2",
        "httpcache_store_capacity_bytes{tier=\"memory\"} 1048576",
        "# TYPE httpcache_requests_total counter",
      ] {
        #expect(metrics.body.contains(line + "\n"), "\(line)")
      }
      let stats = try await routes.object("/stats")
      #expect(stats["misses"] as? Int == 2)
      #expect(stats["memoryEntries"] as? Int == 2)
    }
  }

  @Test("entries in pages, and below a prefix")
  func entries() async throws {
    try await withAdminRoutes { routes in
      let first = try await routes.object("/entries?limit=1")
      #expect((first["entries"] as? [[String: Any]])?.map { $0["url"] as? String } == ["http://h/a"])
      let next = try #require(first["next"] as? String)
      let second = try await routes.object("/entries?limit=1&after=\(next)")
      #expect((second["entries"] as? [[String: Any]])?.map { $0["url"] as? String } == ["http://h/b"])
      let below = try await routes.object("/entries?prefix=http://h/b")
      #expect((below["entries"] as? [Any])?.count == 1)
    }
  }

  @Test("explain tells the decision for a URL")
  func explain() async throws {
    try await withAdminRoutes { routes in
      let explanation = try await routes.object("/explain?url=http%3A%2F%2Fh%2Fa")
      #expect((explanation["decision"] as? [String: Any])?["action"] as? String == "fresh")
    }
  }

  @Test("a purge needs the token; it removes a URL, a prefix, a group or everything, or invalidates them")
  func purge() async throws {
    try await withAdminRoutes { routes in
      let refused = await routes.send("POST", "/purge?all", hasToken: false)
      #expect(refused.status == 403)
      #expect(await routes.send("PURGE", "http://h/a", hasToken: false).status == 403)
      let unchanged = await routes.send("GET", "/purge?all")
      #expect(unchanged.status == 405 && unchanged.allow == "POST")
      #expect(await routes.send("POST", "/purge?url=http://h/a&soft").body == "{\"expired\":1}\n")
      #expect(await routes.send("PURGE", "http://h/a").body == "{\"removed\":1}\n")
      #expect(await routes.send("PURGE", "http://h/a").body == "{\"removed\":0}\n")
      #expect(await routes.send("POST", "/purge?group=news&origin=http://h").body == "{\"removed\":1}\n")
      #expect(await routes.send("POST", "/purge?url=http://other/a").body == "{\"removed\":0}\n")
      #expect(await routes.send("POST", "/purge?prefix=http://h/").body == "{\"removed\":0}\n")
      #expect(await routes.send("POST", "/purge?all").body == "{\"removed\":0}\n")
      #expect(await routes.send("POST", "/purge?all=1&soft=no").body == "{\"removed\":0}\n")
    }
  }

  @Test(
    "a purge of a group takes the origin in each spelling",
    arguments: ["http://h", "http://h/", "http://H", "HTTP://h:80", "http://h:80/"])
  func purgeGroup(origin: String) async throws {
    try await withAdminRoutes { routes in
      let answer = await routes.send("POST", "/purge?group=news&origin=\(origin)")
      #expect(answer.body == "{\"removed\":2}\n")
    }
  }

  @Test("a purge and an explanation find what is stored under the URL of the origin by the URL of clients")
  func clientURL() async throws {
    for query in [
      "url=https://www.test/a", "prefix=https://www.test/", "prefix=http://www.test/a",
      "group=news&origin=http://www.test",
    ] {
      try await withAdminRoutes { routes in
        let count = query.hasSuffix("/a") ? 1 : 2
        #expect(await routes.send("POST", "/purge?\(query)&soft").body == "{\"expired\":\(count)}\n")
        #expect(await routes.send("POST", "/purge?\(query)").body == "{\"removed\":\(count)}\n")
      }
    }
    try await withAdminRoutes { routes in
      let upstream = ScriptedUpstream { _ in
        ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "c")
      }
      let response = try await routes.cache.respond(
        to: HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/c"),
        options: RequestOptions(partition: "http://www.test"), via: upstream)
      _ = try await response.body.collect()
      for (url, action) in [
        ("http://www.test/c", "fresh"), ("http://other.test/c", "miss"),
        ("http://other.test/c&partition=http://www.test", "fresh"), ("http://h/a", "fresh"),
      ] {
        let explanation = try await routes.object("/explain?url=\(url)")
        let decided = (explanation["decision"] as? [String: Any])?["action"] as? String
        #expect((decided == "fresh") == (action == "fresh"), "\(url): \(decided ?? "-")")
      }
      #expect(await routes.send("PURGE", "http://www.test/c").body == "{\"removed\":1}\n")
    }
  }

  @Test("a prefix without a path, which may end within a host, is one of clients with the server's address")
  func prefixWithoutPath() async throws {
    try await withAdminRoutes { routes in
      let port = try #require(routes.server.port)
      for (prefix, count) in [("http://127.0", 0), ("http://www.test", 0), ("http://127.0.0.1:\(port)", 2)] {
        let answer = await routes.send("POST", "/purge?prefix=\(prefix)")
        #expect(answer.body == "{\"removed\":\(count)}\n", "\(prefix)")
      }
    }
  }

  @Test("explain tells that the client gets 404 where no route serves the URL and nothing is stored for it")
  func explainWithoutRoute() async throws {
    try await withAdminRoutes { routes in
      var route = GatewayRoute(to: OriginGroup(Origin(isSecure: false, host: "origin.test")))
      route.host = "www.test"
      routes.server.setMode(.gateway([route]))
      for (url, action) in [
        ("http://other.test/c", "refuse"), ("http://www.test/c", "forward"), ("http://h/a", "fresh"),
      ] {
        let explanation = try await routes.object("/explain?url=\(url)")
        #expect((explanation["decision"] as? [String: Any])?["action"] as? String == action, "\(url)")
      }
    }
  }

  @Test("a purge and an explanation find a URL with characters that a URI must not have, as clients sent it")
  func brackets() async throws {
    try await withAdminRoutes { routes in
      let upstream = ScriptedUpstream { _ in
        ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "b")
      }
      for path in ["/a?x[0]=1", "/a?x%5B0%5D=1"] {
        let response = try await routes.cache.respond(
          to: HTTPRequest(method: .get, scheme: "http", authority: "h", path: path), via: upstream)
        _ = try await response.body.collect()
      }
      let url = "http%3A%2F%2Fh%2Fa%3Fx%5B0%5D%3D1"
      let explanation = try await routes.object("/explain?url=\(url)")
      #expect((explanation["decision"] as? [String: Any])?["action"] as? String == "fresh")
      #expect(await routes.send("POST", "/purge?url=\(url)&soft").body == "{\"expired\":2}\n")
      #expect(await routes.send("POST", "/purge?url=\(url)").body == "{\"removed\":2}\n")
    }
  }

  @Test(
    "a parameter that is missing or wrong is named",
    arguments: [
      ("POST", "/purge", "give one of: url, prefix, group with origin, all"),
      ("POST", "/purge?all=false", "give one of: url, prefix, group with origin, all"),
      ("POST", "/purge?all&soft=maybe", "soft must be true or false (got 'maybe')"),
      ("POST", "/purge?all&url=http://h/", "give one of: url, prefix, group with origin, all"),
      ("POST", "/purge?group=news", "the parameter origin is missing"),
      ("POST", "/purge?prefix=", "an empty prefix matches all responses: use all"),
      ("PURGE", "/a", "url must begin with http:// or https:// (got '/a')"),
      ("POST", "/purge?url=nonsense", "url must begin with http:// or https:// (got 'nonsense')"),
      ("POST", "/purge?url=", "url must begin with http:// or https:// (got '')"),
      ("POST", "/purge?url=ftp://h/a&soft", "url must begin with http:// or https:// (got 'ftp://h/a')"),
      ("POST", "/purge?url=http:///a", "'http:///a' has no host"),
      ("POST", "/purge?prefix=h/a", "prefix must begin with http:// or https:// (got 'h/a')"),
      ("POST", "/purge?group=news&origin=h", "origin must begin with http:// or https:// (got 'h')"),
      (
        "POST", "/purge?group=news&origin=http://",
        "origin must be a URL such as https://example.com (got 'http://')"
      ),
      ("POST", "/purge?group=&origin=http://h", "group must not be empty"),
      ("POST", "/purge?group&origin=http://h", "group must not be empty"),
      ("POST", "/purge?group=%FF&origin=http://h", "group must be UTF-8, percent-encoded (got '%FF')"),
      ("POST", "/purge?group=%C3%BC&origin=http://h", "group must have visible ASCII characters"),
      ("POST", "/purge?group=a%0A&origin=http://h", "group must have visible ASCII characters"),
      (
        "POST", "/purge?group=a&origin=http://%FF", "origin must be UTF-8, percent-encoded (got 'http://%FF')"
      ),
      ("POST", "/purge?group=a&origin=", "the parameter origin is missing"),
      ("POST", "/purge?url=http://h/%FF", "url must be UTF-8, percent-encoded (got 'http://h/%FF')"),
      ("POST", "/purge?url=http://h/%2", "url must be UTF-8, percent-encoded (got 'http://h/%2')"),
      ("POST", "/purge?url=http://h/%zz", "url must be UTF-8, percent-encoded (got 'http://h/%zz')"),
      ("POST", "/purge?url=http://h/\u{FFFD}", "url must be UTF-8, percent-encoded"),
      ("POST", "/purge?prefix=%FF", "prefix must be UTF-8, percent-encoded (got '%FF')"),
      ("POST", "/purge?all=%FF", "all must be UTF-8, percent-encoded (got '%FF')"),
      ("POST", "/purge?all&soft=%FF", "soft must be UTF-8, percent-encoded (got '%FF')"),
      ("POST", "/purge?%FF=1", "the name of the parameter %FF must be UTF-8, percent-encoded"),
      ("GET", "/explain?url=", "the parameter url is missing"),
      ("GET", "/explain?url=http://h/a&partition=%FF", "partition must be UTF-8, percent-encoded"),
      ("GET", "/entries?prefix=", "prefix must not be empty"),
      ("GET", "/entries?limit=", "limit must be a number (got '')"),
      ("GET", "/entries?after=", "after must be a number (got '')"),
      ("GET", "/entries?after=%FF", "after must be UTF-8, percent-encoded"),
      ("GET", "/missed?by=", "by must be requests or time (got '')"),
      ("GET", "/requests?target=", "target must not be empty"),
      ("GET", "/requests?outcome=", "outcome must not be empty"),
      ("GET", "/requests?client=", "client must be an IP address"),
      ("GET", "/requests?target=%FF", "target must be UTF-8, percent-encoded"),
      ("GET", "/explain", "the parameter url is missing"),
      ("GET", "/entries?limit=x", "limit must be a number (got 'x')"),
      ("GET", "/entries?limit=1001", "limit must be between 1 and 1000 (got 1001)"),
    ])
  func mistakes(method: String, target: String, message: String) async throws {
    try await withAdminRoutes { routes in
      let answer = await routes.send(method, target)
      #expect(answer.status == 400)
      #expect(answer.body.hasPrefix("400: \(message)"), "\(answer.body)")
    }
  }

  @Test("other paths and methods are refused")
  func others() async throws {
    try await withAdminRoutes { routes in
      let missing = await routes.get("/other")
      #expect(missing.status == 404)
      let posted = await routes.send("POST", "/stats")
      #expect(posted.status == 405 && posted.allow == "GET, HEAD")
    }
  }
}
