import ArgumentParser
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// Which of several servers of one directory a URL of clients belongs to.
@Suite(.timeLimit(.minutes(10))) struct DirectoryServersTests {
  /// A gateway that listens on a port of this machine.
  private static func gateway(
    to origin: String, port: Int, host: String? = nil, preservesHost: Bool = false, lifetime: Double = 0.1
  ) -> ServedDirectory {
    var route = GatewayRoute(to: OriginGroup(Origin(isSecure: false, host: origin)))
    route.host = host
    route.preservesHost = preservesHost
    var rules = CacheRules(mode: .shared)
    rules.heuristicFraction = lifetime
    return ServedDirectory(
      rules: rules, routes: [route], address: ListenAddress(host: "127.0.0.1", port: port))
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

  @Test("a URL that two servers store under different URLs is refused, with both servers and both URLs")
  func ambiguous() throws {
    let url = try TargetURL(parsing: "http://www.test/x")
    let error = #expect(throws: ValidationError.self) { try Self.two.targets(of: url) }
    #expect(
      error?.message
        == "the servers at 127.0.0.1:8001 and 127.0.0.1:8002 store responses to http://www.test/x under "
        + "different URLs; give the URL of the origin: http://a/x or http://b/x")
    #expect(throws: ValidationError.self) { try Self.two.selections(ofPrefix: "http://www.test/") }
    #expect(throws: ValidationError.self) { try Self.two.selections(ofGroup: "g", origin: url) }
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

  @Test("a server that stores under the URL of clients comes before one that does not")
  func preservedHost() throws {
    let servers = DirectoryServers([
      Self.gateway(to: "a", port: 8001), Self.gateway(to: "b", port: 8002, preservesHost: true),
    ])
    #expect(try Self.targets("http://www.test/x", servers) == ["http://www.test/x"])
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
