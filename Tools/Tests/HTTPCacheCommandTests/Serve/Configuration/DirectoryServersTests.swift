import ArgumentParser
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// Which of several servers of one directory a URL of clients belongs to.
@Suite(.timeLimit(.minutes(10))) struct DirectoryServersTests {
  /// A gateway.
  private static func gateway(
    to origin: String, port: Int, at address: String = "127.0.0.1", host: String? = nil,
    preservesHost: Bool = false, lifetime: Double = 0.1
  ) -> ServedDirectory {
    var route = GatewayRoute(to: OriginGroup(Origin(isSecure: false, host: origin)))
    route.host = host
    route.preservesHost = preservesHost
    var rules = CacheRules(mode: .shared)
    rules.heuristicFraction = lifetime
    return ServedDirectory(
      rules: rules, routes: [route], address: ListenAddress(host: address, port: port))
  }

  /// A server whose rules are unknown.
  private static func unknown(port: Int?) -> ServedDirectory {
    ServedDirectory(
      rules: CacheRules(mode: .shared), routes: [],
      address: port.map { ListenAddress(host: "127.0.0.1", port: $0) }, unreadFile: "/serve.yaml")
  }

  private static var two: DirectoryServers {
    DirectoryServers([gateway(to: "a", port: 8001), gateway(to: "b", port: 8002)])
  }

  private static func targets(_ url: String, _ servers: DirectoryServers) throws -> [String] {
    try servers.targets(of: TargetURL(parsing: url))
  }

  @Test("a URL with the address of a server is one of its clients", arguments: ["127.0.0.1", "localhost"])
  func address(_ host: String) throws {
    #expect(try Self.targets("http://\(host):8001/x", Self.two).last == "http://a/x")
    #expect(try Self.targets("http://\(host):8002/x", Self.two) == ["http://\(host):8002/x", "http://b/x"])
    let selections = try Self.two.selections(ofPrefix: "http://\(host):8002/x")
    #expect(Set(selections) == [.prefix("http://\(host):8002/x"), .prefix("http://b/x")])
  }

  @Test("an equal address comes before other names of this machine, and before servers on every address")
  func closestAddress() throws {
    let servers = DirectoryServers([
      Self.gateway(to: "c", port: 8001, at: "0.0.0.0"), Self.gateway(to: "b", port: 8001, at: "127.0.0.2"),
      Self.gateway(to: "a", port: 8001),
    ])
    for (host, origin) in [("127.0.0.1", "a"), ("127.0.0.2", "b"), ("proxy.test", "c")] {
      let url = "http://\(host):8001/x"
      #expect(try Self.targets(url, servers) == [url, "http://\(origin)/x"])
    }
  }

  @Test("a URL that may be one of a server whose rules are unknown is refused, and taken by no other server")
  func unknownRules() throws {
    let servers = DirectoryServers([Self.unknown(port: 8002), Self.gateway(to: "a", port: 8001)])
    let url = try TargetURL(parsing: "http://127.0.0.1:8002/x")
    let error = #expect(throws: ValidationError.self) { try servers.targets(of: url) }
    #expect(
      error?.message
        == "http://127.0.0.1:8002/x may be a URL of clients of the server at 127.0.0.1:8002, whose rules are "
        + "unknown, because /serve.yaml cannot be read; give the URL of the origin")
    #expect(throws: ValidationError.self) { try servers.server(of: url) }
    #expect(throws: ValidationError.self) { try servers.selections(ofPrefix: "http://127.0.0.1:8002") }
    #expect(throws: ValidationError.self) { try servers.selections(ofGroup: "g", origin: url) }
    #expect(try Self.targets("http://www.test/x", servers) == ["http://www.test/x", "http://a/x"])
    #expect(servers.rules(of: CacheKey(mode: .shared, target: "http://b/x"))?.mode == .shared)
    #expect(!servers.hasNoRoute(for: url))
  }

  @Test("with a server whose address is unknown, URLs but those of origins and other servers are refused")
  func unknownAddress() throws {
    let servers = DirectoryServers([Self.unknown(port: nil), Self.gateway(to: "a", port: 8001)])
    let url = try TargetURL(parsing: "http://www.test/x")
    #expect(throws: ValidationError.self) { try servers.targets(of: url) }
    #expect(try Self.targets("http://a/x", servers) == ["http://a/x"])
    #expect(try Self.targets("http://127.0.0.1:8001/x", servers).last == "http://a/x")
  }

  @Test("where two servers store under different URLs, a purge takes both, and no one of them is explained")
  func severalPlaces() throws {
    let url = try TargetURL(parsing: "http://www.test/x")
    #expect(try Self.two.targets(of: url) == ["http://www.test/x", "http://a/x", "http://b/x"])
    #expect(
      try Self.two.selections(ofPrefix: "http://www.test/")
        == [.prefix("http://a/"), .prefix("http://b/"), .prefix("http://www.test/")])
    #expect(
      try Self.two.selections(ofGroup: "g", origin: url)
        == ["a", "b", "www.test"].map { CacheSelection.group(origin: "http://\($0)", name: "g") })
    let error = #expect(throws: ValidationError.self) { try Self.two.server(of: url) }
    #expect(
      error?.message
        == "the servers at 127.0.0.1:8001 and 127.0.0.1:8002 store responses to http://www.test/x under "
        + "different URLs; give the URL of the origin: http://a/x or http://b/x")
  }

  @Test("a prefix without a path is one of clients only with the address of a server or the host of a route")
  func prefixWithoutPath() throws {
    let servers = DirectoryServers([
      Self.gateway(to: "a", port: 80), Self.gateway(to: "b", port: 8002, host: "b.test"),
    ])
    // The gateway to `a` serves all hosts.
    let prefixes: [(String, [String])] = [
      ("http://127.0", []), ("http://www.test", []), ("http://127.0.0.1", ["http://a/"]),
      ("http://b.test", ["http://a/", "http://b/"]), ("http://b.tes", []), ("http", []), ("http://[::", []),
      ("http://www.test/", ["http://a/"]),
    ]
    for (prefix, places) in prefixes { #expect(try servers.prefixes(for: prefix) == places, "\(prefix)") }
    #expect(try servers.selections(ofPrefix: "http://127.0") == [.prefix("http://127.0/")])
  }

  @Test("a URL that one of two servers serves, or that both store under one URL, is used")
  func unambiguous() throws {
    let hosts = DirectoryServers([
      Self.gateway(to: "a", port: 8001, host: "a.test"), Self.gateway(to: "b", port: 8002, host: "b.test"),
    ])
    #expect(try Self.targets("http://b.test/x", hosts).last == "http://b/x")
    let same = DirectoryServers([Self.gateway(to: "a", port: 8001), Self.gateway(to: "a", port: 8002)])
    #expect(try Self.targets("http://www.test/x", same).last == "http://a/x")
  }

  @Test("the URL of a server's origin is no URL of another server's clients")
  func origin() throws {
    #expect(try Self.targets("http://a/x", Self.two) == ["http://a/x"])
    #expect(try Self.two.selections(ofPrefix: "http://b/") == [.prefix("http://b/")])
  }

  @Test("a purge reaches the server that stores under the URL of clients, and the others that serve the URL")
  func preservedHost() throws {
    let servers = DirectoryServers([
      Self.gateway(to: "a", port: 8001), Self.gateway(to: "b", port: 8002, preservesHost: true),
    ])
    #expect(try Self.targets("http://www.test/x", servers) == ["http://www.test/x", "http://a/x"])
    let server = try servers.server(of: TargetURL(parsing: "http://www.test/x"))
    #expect(server?.address?.port == 8002)
  }

  @Test("a response is judged by the rules of the server that asks its origin")
  func rules() {
    let servers = DirectoryServers([
      Self.gateway(to: "a", port: 8001, lifetime: 0.2), Self.gateway(to: "b", port: 8002, lifetime: 0.3),
    ])
    for (origin, fraction) in [("a", 0.2), ("b", 0.3)] {
      let key = CacheKey(mode: .shared, target: "http://\(origin)/x")
      #expect(servers.rules(of: key)?.heuristicFraction == fraction)
    }
    #expect(servers.rules(of: CacheKey(mode: .private, target: "http://a/x")) == nil)
    let preserving = DirectoryServers([
      Self.gateway(to: "a", port: 8001),
      Self.gateway(to: "b", port: 8002, preservesHost: true, lifetime: 0.3),
    ])
    let rules = preserving.rules(of: CacheKey(mode: .shared, target: "http://www.test/x"))
    #expect(rules?.heuristicFraction == 0.3)
  }

  @Test("a client gets 404 where no server has a route")
  func noRoute() throws {
    let servers = DirectoryServers([
      Self.gateway(to: "a", port: 8001, host: "a.test"), Self.gateway(to: "b", port: 8002, host: "b.test"),
    ])
    for (url, hasNoRoute) in [
      ("http://other.test/", true), ("http://127.0.0.1:8001/", true), ("http://a.test/", false),
      ("http://b.test/", false), ("http://a/", false),
    ] {
      #expect(servers.hasNoRoute(for: try TargetURL(parsing: url)) == hasNoRoute, "\(url)")
    }
    #expect(!DirectoryServers([]).hasNoRoute(for: try TargetURL(parsing: "http://a.test/")))
  }
}
