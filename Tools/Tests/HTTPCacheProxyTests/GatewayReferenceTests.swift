import HTTPCaching
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("References of an origin that is served below another path", .timeLimit(.minutes(10)))
struct GatewayReferenceTests {
  private static func route(
    _ path: String = "/app", base: String = "/deep", strips: Bool = true, addresses: [Origin] = []
  ) -> GatewayRoute {
    var route = GatewayRoute(
      to: OriginGroup(Origin(isSecure: false, host: "origin"), addresses: addresses))
    (route.path, route.basePath, route.stripsPath) = (path, base, strips)
    return route
  }

  /// Runs a test with a proxy that serves the origin's `/deep` as `/app`.
  private func withRoute(
    cache: HTTPCache? = nil, _ change: (inout GatewayRoute) -> Void = { _ in },
    then body: (RunningProxy) async throws -> Void
  ) async throws {
    try await withProxy(
      basePath: "/deep", cache: cache,
      configure: {
        $0.changeRoutes { routes in
          (routes[0].path, routes[0].stripsPath) = ("/app", true)
          change(&routes[0])
        }
      }, body)
  }

  private func changed(
    _ name: String, _ value: String, by route: GatewayRoute = Self.route(), client: String = ""
  ) throws -> String {
    let request = RoutedRequest(
      head: HTTPRequest(method: .get, scheme: "http", authority: "origin", path: "/"), route: route,
      partition: client)
    let name = try #require(HTTPField.Name(name))
    var fields: HTTPFields = [name: value]
    request.finish(&fields)
    return fields[name] ?? ""
  }

  @Test(
    "the Path of a cookie (RFC 6265 §5.2.4)",
    arguments: [
      ("s=1; Path=/deep", "s=1; Path=/app"), ("s=1; path=/deep/; HttpOnly", "s=1; path=/app/; HttpOnly"),
      ("s=1;Path=/deep/a;Secure", "s=1;Path=/app/a;Secure"), ("s=1; PATH = /deep/a ", "s=1; PATH =/app/a"),
      ("s=1; Path=/deeper", "s=1; Path=/deeper"), ("s=1; Path=/", "s=1; Path=/"), ("s=1", "s=1"),
      ("s=/deep; Path=x", "s=/deep; Path=x"), ("__Host-s=1; Path=/deep", "__Host-s=1; Path=/deep"),
      ("s=1; Path=/deep/../x", "s=1; Path=/deep/../x"),
      ("s=1; Path=/deep; Path=/deep/b", "s=1; Path=/app; Path=/app/b"),
    ])
  func cookies(_ value: String, _ expected: String) throws {
    #expect(try changed("Set-Cookie", value) == expected)
  }

  @Test(
    "a Domain that names the origin, which the client did not ask for, is dropped (RFC 6265 §5.3)",
    arguments: [
      ("https://www.test", "s=1; Domain=origin; Path=/deep", "s=1; Path=/app"),
      ("https://www.test:8443", "s=1; Secure; domain=.ORIGIN", "s=1; Secure"),
      ("http://www.test", "s=1;Domain = 10.0.0.1 ;Path=/deep;HttpOnly", "s=1;Path=/app;HttpOnly"),
      ("http://www.test", "s=1; Domain=origin; Domain=test", "s=1; Domain=test"),
      ("http://www.test", "s=1; Domain=test", "s=1; Domain=test"),
      ("http://www.test", "s=1; Domain=else.example", "s=1; Domain=else.example"),
      ("http://www.test", "s=1; Domain=", "s=1; Domain="), ("http://www.test", "s=1; Domain", "s=1; Domain"),
      ("http://www.test", "domain=origin", "domain=origin"),
      ("http://origin", "s=1; Domain=origin", "s=1; Domain=origin"),
      ("http://a.origin", "s=1; Domain=.origin", "s=1; Domain=.origin"),
      ("http://aorigin", "s=1; Domain=origin", "s=1"), ("", "s=1; Domain=origin", "s=1; Domain=origin"),
      ("http://www.test", "__Host-s=1; Domain=origin", "__Host-s=1; Domain=origin"),
    ])
  func cookieDomain(client: String, value: String, expected: String) throws {
    let route = Self.route(addresses: [Origin(isSecure: false, host: "10.0.0.1", port: 8080)])
    #expect(try changed("Set-Cookie", value, by: route, client: client) == expected)
  }

  @Test("the host that a client asks for decides about the Domain of its cookies")
  func askedHost() async throws {
    for (host, expected) in [("www.test", "s=1"), ("127.0.0.1", "s=1; Domain=127.0.0.1")] {
      try await withProxy { proxy in
        let (_, head) = try await proxy.exchange(
          "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n",
          "HTTP/1.1 204 No Content\r\nSet-Cookie: s=1; Domain=127.0.0.1\r\n\r\n")
        #expect(field("Set-Cookie", in: head) == expected)
      }
    }
  }

  @Test("a cookie for all of an origin is for all of its route, a __Host- cookie for all paths")
  func cookieOfRoot() throws {
    let route = Self.route(base: "")
    #expect(try changed("Set-Cookie", "s=1; Path=/", by: route) == "s=1; Path=/app")
    #expect(try changed("Set-Cookie", "__HOST-s=1; Path=/", by: route) == "__HOST-s=1; Path=/")
    #expect(try changed("Set-Cookie", "s=1; Path=/a", by: route) == "s=1; Path=/app/a")
    let whole = Self.route("/", strips: false)
    #expect(try changed("Set-Cookie", "s=1; Path=/deep", by: whole) == "s=1; Path=/")
    #expect(try changed("Set-Cookie", "s=1; Path=/deep/a", by: whole) == "s=1; Path=/a")
  }

  @Test("each of several cookies is changed alone, and keeps octets that are no UTF-8")
  func severalCookies() throws {
    let request = RoutedRequest(
      head: HTTPRequest(method: .get, scheme: "http", authority: "origin", path: "/"), route: Self.route())
    var fields: HTTPFields = [:]
    fields[fields: .setCookie] = [
      HTTPField(
        name: .setCookie, lenientValue: Array("a=\u{e9}; Path=/deep".unicodeScalars.map { UInt8($0.value) })),
      HTTPField(name: .setCookie, value: "b=2; Path=/"),
    ]
    request.finish(&fields)
    let values = fields[fields: .setCookie].map { $0.withUnsafeBytesOfValue { Array($0) } }
    #expect(values == [Array("a=".utf8) + [0xE9] + Array("; Path=/app".utf8), Array("b=2; Path=/".utf8)])
  }

  @Test(
    "Refresh, as browsers read it",
    arguments: [
      ("3; url=/deep/next", "3; url=/app/next"), ("0;URL='/deep/a b'", "0;URL='/app/a b'"),
      ("5, url = \"http://origin/deep/x\"", "5, url = \"/app/x\""), ("3 /deep/x", "3 /app/x"),
      ("1.5;/deep", "1.5;/app/"), ("3", "3"), ("3; url=/else", "3; url=/else"),
      ("x; url=/deep", "x; url=/deep"),
      ("3;", "3;"), ("3; url=", "3; url="), ("", ""),
    ])
  func refresh(_ value: String, _ expected: String) throws {
    #expect(try changed("Refresh", value) == expected)
  }

  @Test(
    "fields with one reference, and strings of structured fields that are references",
    arguments: [
      ("SourceMap", "/deep/a.js.map", "/app/a.js.map"), ("X-SourceMap", "a.js.map", "a.js.map"),
      ("Service-Worker-Allowed", "/deep/", "/app/"),
      (
        "Reporting-Endpoints", "main=\"/deep/r\", other=\"https://else/deep\"",
        "main=\"/app/r\", other=\"https://else/deep\""
      ),
      (
        "Speculation-Rules", "\"/deep/a.json\", \"http://origin/deep/b.json\"",
        "\"/app/a.json\", \"/app/b.json\""
      ),
      ("Speculation-Rules", "\"/deep/a.json", "\"/deep/a.json"),
      (
        "Use-As-Dictionary", "match=\"/deep/js/*\", match-dest=(\"script\"), id=\"/deep\"",
        "match=\"/app/js/*\", match-dest=(\"script\"), id=\"/deep\""
      ),
      ("Use-As-Dictionary", "id=\"/deep\",match=\"js/*\"", "id=\"/deep\",match=\"js/*\""),
    ])
  func others(name: String, value: String, expected: String) throws {
    #expect(try changed(name, value) == expected)
  }

  @Test(
    "Link (RFC 8288 §3)",
    arguments: [
      ("</deep/s.css>; rel=preload", "</app/s.css>; rel=preload"),
      (
        "<http://origin/deep/a>; rel=\"next\", </else>, </deep/b>",
        "</app/a>; rel=\"next\", </else>, </app/b>"
      ),
      ("<a.css>; title=\"</deep/x>\\\" </deep/y>\"", "<a.css>; title=\"</deep/x>\\\" </deep/y>\""),
      ("<", "<"), ("", ""),
      (
        "<a>; rel=up; anchor=\"/deep/x\", </deep/b>; Anchor = \"http://origin/deep/y\"; title=\"/deep\"",
        "<a>; rel=up; anchor=\"/app/x\", </app/b>; Anchor = \"/app/y\"; title=\"/deep\""
      ),
      ("</deep/a>; anchor=\"/deep/x", "</app/a>; anchor=\"/deep/x"),
      ("</deep/a", "</deep/a"),
    ])
  func links(_ value: String, _ expected: String) throws { #expect(try changed("Link", value) == expected) }

  @Test("Link and If with angle brackets that have no end are read once, and stay as they are")
  func unended() throws {
    let value = String(repeating: "<", count: 200_000)
    #expect(try changed("Link", value) == value)
    var fields: HTTPFields = [.ifCondition: value]
    try GatewayDestination(route: Self.route(), origin: "http://origin", hosts: [], host: nil).change(&fields)
    #expect(fields[.ifCondition] == value)
  }

  @Test("Location and Content-Location with an address of the group")
  func addresses() throws {
    let address = Origin(isSecure: false, host: "10.0.0.1", port: 8080)
    for name in ["Location", "Content-Location"] {
      let route = Self.route(addresses: [address, Origin(isSecure: false, host: "10.0.0.2")])
      #expect(try changed(name, "http://10.0.0.1:8080/deep/y", by: route) == "/app/y")
      #expect(try changed(name, "http://10.0.0.2/deep/y", by: route) == "/app/y")
      #expect(try changed(name, "http://10.0.0.1/deep/y", by: route) == "http://10.0.0.1/deep/y")
    }
  }

  @Test("RFC 3986 §4.2: a reference without a scheme names a host, perhaps the origin")
  func noScheme() throws {
    for (value, expected) in [
      ("//origin/deep/x?y", "/app/x?y"), ("//ORIGIN:80/deep", "/app/"),
      ("//origin:443/deep/x", "//origin:443/deep/x"),
      ("//origin/other", "//origin/other"), ("//elsewhere/deep/x", "//elsewhere/deep/x"),
      ("//u@origin/deep/x", "//u@origin/deep/x"), ("///deep/x", "///deep/x"), ("//", "//"),
      ("//:80/deep", "//:80/deep"),
      ("//origin/deep//evil.test", "/app//evil.test"), ("//origin/deep/../x", "//origin/deep/../x"),
    ] {
      #expect(try changed("Location", value) == expected)
    }
    #expect(try changed("Link", "<//origin/deep/x>; rel=preload") == "</app/x>; rel=preload")
    let address = Origin(isSecure: true, host: "10.0.0.1", port: 8443)
    let route = Self.route(addresses: [address])
    #expect(try changed("Location", "//10.0.0.1:8443/deep/x", by: route) == "/app/x")
    #expect(try changed("Location", "//10.0.0.1/deep/x", by: route) == "//10.0.0.1/deep/x")
    var preserving = Self.route()
    preserving.preservesHost = true
    #expect(
      try changed("Location", "//www.test:8443/deep/x", by: preserving, client: "https://www.test:8443")
        == "/app/x")
    #expect(
      try changed("Location", "//www.test/deep/x", client: "https://www.test") == "//www.test/deep/x")
  }

  @Test("Link of an interim response names the proxy too (RFC 8297)")
  func earlyHints() async throws {
    try await withRoute { proxy in
      let (client, peer, _) = try await proxy.open("GET /app/a HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 103 Early Hints\r\nLink: </deep/s.css>; rel=preload\r\n\r\n")
      #expect(field("Link", in: try await client.receiveHead()) == "</app/s.css>; rel=preload")
      peer.send("HTTP/1.1 204 No Content\r\nSet-Cookie: s=1; Path=/deep\r\n\r\n")
      #expect(field("Set-Cookie", in: try await client.receiveHead()) == "s=1; Path=/app")
    }
  }

  @Test("references in a 101 name the proxy, and the route's rules for fields apply to it (RFC 9110 §7.8)")
  func upgraded() async throws {
    try await withRoute {
      $0.responseFields.removed = ["x-internal"]
    } then: { proxy in
      let (client, peer, _) = try await proxy.open(
        "GET /app/a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      peer.send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          + "Set-Cookie: s=1; Path=/deep\r\nX-Internal: 1\r\n\r\n")
      let head = try await client.receiveHead()
      #expect(head.hasPrefix("HTTP/1.1 101 ") && field("Upgrade", in: head) == "websocket")
      #expect(field("Set-Cookie", in: head) == "s=1; Path=/app" && field("X-Internal", in: head) == nil)
    }
  }

  // MARK: WebDAV

  private func asked(
    _ lines: String, preservesHost: Bool = false, _ body: (String, RunningProxy) async throws -> Void
  ) async throws {
    try await withRoute {
      $0.preservesHost = preservesHost
    } then: { proxy in
      let (client, peer, head) = try await proxy.open(
        "MOVE /app/x HTTP/1.1\r\nHost: www.test\r\n\(lines)\r\n")
      peer.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
      _ = try await client.receiveHead()
      try await body(head, proxy)
    }
  }

  @Test(
    "Destination names the origin, whatever scheme a proxy in front has ended (RFC 4918 §10.3)",
    arguments: ["http://www.test/app/y", "https://WWW.test/app/y", "/app/y", "http://www.test:80/app/z/../y"])
  func destination(_ value: String) async throws {
    try await asked("Destination: \(value)\r\n") { head, proxy in
      #expect(head.hasPrefix("MOVE /deep/x "))
      #expect(field("Destination", in: head) == "http://127.0.0.1:\(proxy.origin.port)/deep/y")
    }
    try await asked("Destination: \(value)\r\n", preservesHost: true) { head, _ in
      #expect(field("Destination", in: head) == "http://www.test/deep/y")
    }
  }

  @Test(
    "the resources that If names are those of the origin, what stands in parentheses stays (RFC 4918 §10.4)")
  func ifLists() async throws {
    let value =
      "<http://www.test/app/y> (<urn:uuid:1> [\"a)\"]) <http://other/app/y> (Not <http://www.test/app/z>)"
    try await asked("If: \(value)\r\n") { head, proxy in
      #expect(
        field("If", in: head)
          == value.replacing("http://www.test/app/", with: "http://127.0.0.1:\(proxy.origin.port)/deep/"))
    }
  }

  @Test("a Destination on another host passes as it is; one of no route, or outside of it, is refused")
  func otherDestination() async throws {
    try await asked("Destination: http://other/app/y\r\n") { head, _ in
      #expect(field("Destination", in: head) == "http://other/app/y")
    }
    try await withRoute { proxy in
      for (value, status) in [("http://h/else", 502), ("/app/..%2fy", 400), ("/app/../else", 502)] {
        let client = try proxy.connect(
          sending: "COPY /app/x HTTP/1.1\r\nHost: h\r\nDestination: \(value)\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 \(status) "))
      }
    }
  }

  @Test("MOVE and COPY invalidate what is stored for their destination", arguments: ["MOVE", "COPY"])
  func invalidated(_ method: String) async throws {
    try await withRoute(cache: try memoryCache()) { proxy in
      try await proxy.miss("/app/y", answer: "old")
      #expect(try await proxy.hit("/app/y").hasSuffix("old"))
      let (client, peer, _) = try await proxy.open(
        "\(method) /app/x HTTP/1.1\r\nHost: h\r\nDestination: http://h/app/y\r\n\r\n")
      peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      _ = try await client.receiveHead()
      try await proxy.miss("/app/y", answer: "new")
    }
  }
}
