import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Logging
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("PURGE and BAN", .timeLimit(.minutes(10))) struct PurgingTests {
  private static let token = "a-token-of-twenty-by"
  private static let authorization = "Authorization: Bearer \(token)\r\n"
  private static let machine = [AddressRange("127.0.0.0/8"), AddressRange("::1")].compactMap { $0 }

  private func withPurging(
    from addresses: [AddressRange] = machine, routes change: (inout [GatewayRoute]) -> Void = { _ in },
    storing paths: [String] = ["/a", "/a/b", "/c"], _ body: (RunningProxy, HTTPCache) async throws -> Void
  ) async throws {
    let cache = try memoryCache()
    try await withProxy(
      cache: cache,
      configure: {
        $0.purgeRights = PurgeRights(token: Self.token, addresses: addresses)
        $0.changeRoutes(change)
      }
    ) { proxy in
      for path in paths { try await store(path, proxy) }
      try await body(proxy, cache)
    }
  }

  /// Fetches a response, to its last byte: that comes when the response is stored.
  private func store(_ path: String, _ proxy: RunningProxy) async throws {
    let groups = path == "/c" ? "Cache-Groups: \"g\"\r\n" : ""
    let (client, peer, _) = try await proxy.open(
      "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    peer.send(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nETag: \"t\"\r\n\(groups)Content-Length: 1\r\n\r\nx")
    peer.finish()
    _ = try await client.receiveAll()
  }

  private func answer(_ request: String, _ proxy: RunningProxy) async throws -> (head: String, body: String) {
    let client = try proxy.connect(sending: request)
    let head = try await client.receiveHead()
    return (head, try await client.receive(count: field("Content-Length", in: head).flatMap { Int($0) } ?? 0))
  }

  private func stored(_ cache: HTTPCache) async throws -> [String] {
    let page = try await cache.entries(.all, after: nil, limit: 10)
    let targets = page.entries.map { $0.record.key.target }
    return targets.map { "/" + ($0.split(separator: "/", maxSplits: 2).last ?? "") }.sorted()
  }

  @Test(
    "removes the target, what begins with it, or groups",
    arguments: [
      ("PURGE /a", "", 1, ["/a/b", "/c"]), ("BAN /a", "", 2, ["/c"]), ("BAN /", "", 3, []),
      ("PURGE /", "Surrogate-Key: g x\r\n", 1, ["/a", "/a/b"]),
      ("PURGE /", "Cache-Tag: x,g\r\n", 1, ["/a", "/a/b"]),
      ("PURGE /none", "", 0, ["/a", "/a/b", "/c"]), ("PURGE /x/../a", "", 1, ["/a/b", "/c"]),
    ])
  func removes(_ line: String, _ fields: String, _ count: Int, _ left: [String]) async throws {
    try await withPurging { proxy, cache in
      let request = "\(line) HTTP/1.1\r\nHost: h\r\n\(Self.authorization)\(fields)\r\n"
      let (head, body) = try await answer(request, proxy)
      #expect(head.hasPrefix("HTTP/1.1 200 ") && body == "{\"removed\":\(count)}\n")
      #expect(try await stored(cache) == left)
    }
  }

  /// Makes a route for `/a` to an origin with another name before the route for all requests.
  private static func addRoute(_ routes: inout [GatewayRoute]) {
    guard let first = routes.first else { return }
    var below = GatewayRoute(
      to: OriginGroup(Origin(isSecure: false, host: "below.test"), addresses: first.group.addresses))
    below.path = "/a"
    routes.insert(below, at: 0)
  }

  private static func ban(_ path: String, soft: Bool = false) -> String {
    "BAN \(path) HTTP/1.1\r\nHost: h\r\n\(authorization)\(soft ? "Soft-Purge: 1\r\n" : "")\r\n"
  }

  @Test("BAN reaches the origins of routes whose paths begin with the target")
  func bansBelow() async throws {
    try await withPurging(routes: Self.addRoute) { (proxy: RunningProxy, cache: HTTPCache) async throws in
      #expect(try await answer(Self.ban("/c"), proxy).body == "{\"removed\":1}\n")
      #expect(try await stored(cache) == ["/a", "/a/b"])
      #expect(try await answer(Self.ban("/", soft: true), proxy).body == "{\"expired\":2}\n")
      #expect(try await answer(Self.ban("/x/../"), proxy).body == "{\"removed\":2}\n")
      #expect(try await stored(cache).isEmpty)
    }
  }

  @Test("BAN reaches the route that serves the paths whose last segment goes on")
  func bansLongerSegments() async throws {
    try await withPurging(routes: Self.addRoute, storing: ["/a", "/a/b", "/ab", "/c"]) {
      (proxy: RunningProxy, cache: HTTPCache) async throws in
      #expect(try await answer(Self.ban("/a"), proxy).body == "{\"removed\":3}\n")
      #expect(try await stored(cache) == ["/c"])
    }
  }

  @Test("BAN needs no route for the target itself, if routes begin with it")
  func bansAboveRoutes() async throws {
    let change: (inout [GatewayRoute]) -> Void = { routes in
      Self.addRoute(&routes)
      routes.removeLast()
    }
    try await withPurging(routes: change, storing: ["/a", "/a/b"]) {
      (proxy: RunningProxy, cache: HTTPCache) async throws in
      #expect(try await answer(Self.ban("/c"), proxy).head.hasPrefix("HTTP/1.1 404 "))
      #expect(try await stored(cache) == ["/a", "/a/b"])
      #expect(try await answer(Self.ban("/"), proxy).body == "{\"removed\":2}\n")
      #expect(try await stored(cache).isEmpty)
    }
  }

  @Test("with Soft-Purge a response is kept, and validated before its next use")
  func soft() async throws {
    try await withPurging { proxy, cache in
      let request = "PURGE /a HTTP/1.1\r\nHost: h\r\n\(Self.authorization)Soft-Purge: 1\r\n\r\n"
      #expect(try await answer(request, proxy).body == "{\"expired\":1}\n")
      #expect(try await stored(cache).count == 3)
      let (asked, _) = try await proxy.exchange(
        "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nETag: \"t\"\r\n\r\n")
      #expect(field("If-None-Match", in: asked) == "\"t\"")
    }
  }

  @Test(
    "another client, another token or a purge that makes no sense changes nothing, and does not reach the origin",
    arguments: [
      ("", 401), ("Authorization: Bearer another-token-of-20b\r\n", 401),
      ("Authorization: Basic \(token)\r\n", 401), ("\(authorization)Soft-Purge: yes\r\n", 400),
      ("\(authorization)Surrogate-Key: caf\u{e9}\r\n", 400), ("\(authorization)Surrogate-Key: \r\n", 400),
      ("\(authorization)Cache-Tag: a, \u{e4}\r\n", 400), ("\(authorization)Cache-Tag: ,\r\n", 400),
    ])
  func refused(_ fields: String, _ status: Int) async throws {
    try await withPurging { proxy, cache in
      for method in ["PURGE", "BAN"] {
        let (head, _) = try await answer("\(method) /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n", proxy)
        #expect(head.hasPrefix("HTTP/1.1 \(status) "))
        #expect(status != 401 || field("WWW-Authenticate", in: head) == "Bearer")
      }
      #expect(try await stored(cache).count == 3)
    }
  }

  @Test("another address may not purge")
  func address() async throws {
    try await withPurging(from: [AddressRange("10.0.0.0/8")].compactMap { $0 }) { proxy, cache in
      let (head, _) = try await answer("PURGE /a HTTP/1.1\r\nHost: h\r\n\(Self.authorization)\r\n", proxy)
      #expect(head.hasPrefix("HTTP/1.1 403 "))
      #expect(try await stored(cache).count == 3)
    }
  }

  @Test("without rights the request is the origin's")
  func withoutRights() async throws {
    try await withProxy(cache: memoryCache()) { proxy in
      let (asked, _) = try await proxy.exchange(
        "PURGE /a HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
      )
      #expect(asked.hasPrefix("PURGE /a HTTP/1.1"))
    }
  }

  @Test(
    "tags of responses become groups",
    arguments: [
      ([("Surrogate-Key", "a  b"), ("Cache-Tag", "b,c, d")], "\"a\", \"b\", \"c\", \"d\""),
      ([("Cache-Tag", "a\"b\\")], "\"a\\\"b\\\\\""), ([("Cache-Tag", "ä")], nil), ([("X", "a")], nil),
      ([("Cache-Groups", "\"g\""), ("Cache-Tag", "t")], "\"g\", \"t\""),
      (
        [("Cache-Groups", "\"a\" , \"g, h\";p=\"x\";q"), ("Cache-Groups", "\"\\\"\""), ("Cache-Tag", "t a")],
        "\"a\", \"g, h\", \"\\\"\", \"t\""
      ),
      // No list of strings: the cache would read none of its groups (RFC 9651 §4.2).
      ([("Cache-Groups", "news"), ("Surrogate-Key", "a")], "\"a\""),
      ([("Cache-Groups", "\"g\" \"h\""), ("Surrogate-Key", "a")], "\"a\""),
      ([("Cache-Groups", "\"g"), ("Surrogate-Key", "a")], "\"a\""),
    ] as [([(String, String)], String?)])
  func tags(_ fields: [(String, String)], _ groups: String?) async throws {
    let response = try await Self.tagged(fields).send(UpstreamRequest(head: Self.request))
    #expect(HTTPField.Name("Cache-Groups").flatMap { response.head.headerFields[$0] } == groups)
  }

  private static let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")

  /// An upstream whose response has some fields.
  private static func tagged(_ fields: [(String, String)]) -> GroupTagsUpstream {
    var head = HTTPResponse(status: .ok)
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
    }
    return GroupTagsUpstream(
      ScriptedUpstream([ScriptedResponse(head: head, steps: [])]), logger: .init(label: "test"))
  }

  private static let fresh = ("Cache-Control", "max-age=600")

  private static func words(_ count: Int, _ letters: String = "w") -> String {
    (0..<count).map { "\(letters)\($0)" }.joined(separator: " ")
  }

  private static func strings(_ count: Int) -> String {
    (0..<count).map { "\"s\($0)\"" }.joined(separator: ", ")
  }

  @Test(
    "a response whose tags cannot all be groups is not stored, whatever its other fields say",
    arguments: [
      ([("Surrogate-Key", words(200)), fresh], true),
      ([("Surrogate-Key", words(201)), ("CDN-Cache-Control", "max-age=600")], false),
      ([("Surrogate-Key", words(201)), ("Cache-Control", "must-understand, max-age=600")], false),
      ([("Surrogate-Key", words(100, String(repeating: "w", count: 82))), fresh], false),
      // The backslashes are doubled, and the field is longer than the cache reads.
      ([("Surrogate-Key", words(96, String(repeating: "\\", count: 83))), fresh], false),
      ([("Cache-Groups", strings(66)), ("Cache-Tag", words(190)), fresh], true),
      ([("Cache-Groups", strings(67)), ("Cache-Tag", words(190)), fresh], false),
      ([("Surrogate-Key", "a caf\u{e9}"), fresh], false),
    ] as [([(String, String)], Bool)])
  func unstorable(_ fields: [(String, String)], _ isStored: Bool) async throws {
    let rules = CacheRules(mode: .shared, targetedFields: ["CDN-Cache-Control"])
    let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 8 << 20, rules: rules))
    let response = try await cache.respond(to: Self.request, via: Self.tagged(fields))
    _ = try await response.body.collect()
    #expect(try await stored(cache).count == (isStored ? 1 : 0))
  }
}
