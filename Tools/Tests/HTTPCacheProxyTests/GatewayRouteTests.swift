import HTTPCaching
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// The routes of a gateway with several origins.
@Suite(.timeLimit(.minutes(10))) struct GatewayRouteTests {
  private static let group = OriginGroup(Origin(isSecure: false, host: "origin"))

  private func route(host: String? = nil, _ path: String = "/", strips: Bool = false) -> GatewayRoute {
    var route = GatewayRoute(to: Self.group)
    (route.host, route.path, route.stripsPath) = (host, path, strips)
    return route
  }

  @Test(
    "a route has the hosts and whole segments that it names",
    arguments: [
      (nil, "/", "a", "/x", true), ("a", "/", "a", "/", true), ("a", "/", "b", "/", false),
      ("*.a", "/", "x.a", "/", true), ("*.a", "/", "y.x.a", "/", true), ("*.a", "/", "a", "/", false),
      ("*.a", "/", "ba", "/", false), ("a", "/", "a.", "/", true), ("*.a", "/", "x.a.", "/", true),
      ("*.a", "/", ".a.", "/", false), ("a", "/", ".", "/", false), ("a", "/", nil, "/", false),
      (nil, "/api", nil, "/api", true),
      (nil, "/api", nil, "/api?x", true), (nil, "/api", nil, "/api/", true),
      (nil, "/api", nil, "/apiary", false),
      (nil, "/api/", nil, "/api", true), (nil, "/api/", nil, "/ap", false),
    ] as [(String?, String, String?, String, Bool)])
  func matches(_ host: String?, _ path: String, _ asked: String?, _ target: String, _ expected: Bool) {
    #expect(route(host: host, path).matches(host: asked, path: target) == expected)
  }

  @Test(
    "the path of the route can be left out",
    arguments: [
      ("/api", "/api/a?b", "/a?b"), ("/api/", "/api", "/"), ("/api", "/api?b", "/?b"), ("/", "/a", "/a"),
    ])
  func stripped(_ path: String, _ asked: String, _ expected: String) {
    #expect(route(path, strips: true).target(asked) == expected)
    #expect(route(path).target(asked) == asked)
  }

  @Test(
    "a reference of the origin becomes one of the proxy, unless it leads elsewhere",
    arguments: [
      ("/files", "/pub", true, "/pub/a?b#c", "/files/a?b#c"), ("/files", "/pub", true, "/pub", "/files/"),
      ("/files", "/pub", true, "/public", "/public"),
      ("/files", "", true, "/simple/six/", "/files/simple/six/"),
      ("/files/", "", true, "http://ORIGIN/a", "/files/a"), ("/", "", false, "http://origin/a", "/a"),
      ("/", "", false, "https://origin/a", "https://origin/a"), ("/", "", false, "//origin/a", "/a"),
      ("/files", "", true, "http://origin.example/a", "http://origin.example/a"),
      ("/files", "", true, "http://origin:8080/a", "http://origin:8080/a"),
      ("/files", "", true, "a/b", "a/b"),
      ("/files", "", false, "/else", "/else"), ("/files", "/pub", false, "/pub/files/a", "/files/a"),
      ("/files", "/pub", false, "/pub/else", "/pub/else"), ("/files", "", true, "", ""),
      ("/api", "/pub", false, "http://origin/pub/api#f", "/api#f"),
      ("/", "", false, "http://origin#f", "/#f"),
      ("/", "/pub", false, "/pub//evil.test/a", "/.//evil.test/a"),
      ("/", "/pub", true, "http://origin/pub//evil.test", "/.//evil.test"),
      ("/", "/pub", false, "/pub/\\evil.test", "/./\\evil.test"),
      ("/files", "/pub", true, "/pub//a", "/files//a"), ("/files", "", true, "/a/../../b", "/a/../../b"),
      ("/files", "/pub", true, "http://origin/pub/../b", "http://origin/pub/../b"),
      ("/files", "", true, "/a?b=/../c", "/files/a?b=/../c"),
      ("/", "/pub", false, "/pub/\t/evil.test/a", "/pub/\t/evil.test/a"),
      ("/", "/pub", false, "/pub\t//evil.test/a", "/pub\t//evil.test/a"),
      ("/", "/pub", true, "http://origin/pub/\r\n/evil.test", "http://origin/pub/\r\n/evil.test"),
      ("/", "/pub", false, "/pub/\n\\evil.test", "/pub/\n\\evil.test"),
      ("/files", "", true, "/.\t./b", "/.\t./b"), ("/files", "", true, "/a/%2e%2E/b", "/a/%2e%2E/b"),
      ("/files", "", true, "/a/.%2e/b", "/a/.%2e/b"), ("/files", "", true, "/a%2eb/c", "/files/a%2eb/c"),
    ])
  func references(_ path: String, _ base: String, _ strips: Bool, _ value: String, _ expected: String) {
    var route = route(path, strips: strips)
    route.basePath = base
    #expect(route.reference(from: value) == expected)
  }

  @Test(
    "an origin that gets the client's Host may name it in Location",
    arguments: [(true, "/files/b"), (false, "http://client:81/b")])
  func ownHost(_ preservesHost: Bool, _ expected: String) {
    var route = route("/files", strips: true)
    route.preservesHost = preservesHost
    let request = RoutedRequest(
      head: HTTPRequest(method: .get, scheme: "http", authority: "client:81", path: "/a"), route: route)
    var fields: HTTPFields = [.location: "http://client:81/b"]
    request.finish(&fields)
    #expect(fields[.location] == expected)
  }

  @Test(
    "such an origin may name the scheme and host that the client used, which X-Forwarded-Proto tells",
    arguments: [(true, "/files/b"), (false, "https://public/b")])
  func ownScheme(_ preservesHost: Bool, _ expected: String) {
    var route = route("/files", strips: true)
    route.preservesHost = preservesHost
    let request = RoutedRequest(
      head: HTTPRequest(method: .get, scheme: "http", authority: "public", path: "/a"), route: route,
      partition: "https://public")
    var fields: HTTPFields = [.location: "https://public/b"]
    request.finish(&fields)
    #expect(fields[.location] == expected)
  }

  @Test("each of several Location fields is changed alone")
  func severalLocations() {
    let request = RoutedRequest(
      head: HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/"),
      route: route("/files", strips: true))
    var fields: HTTPFields = [:]
    fields[values: .location] = ["http://origin/a", "http://other/b"]
    request.finish(&fields)
    #expect(fields[values: .location] == ["/files/a", "http://other/b"])
  }

  @Test("Location and Content-Location name the proxy, from the origin and from the cache (RFC 9110 §10.2.2)")
  func locations() async throws {
    try await withProxy(
      cache: try memoryCache(),
      configure: { $0.changeRoutes { ($0[0].path, $0[0].stripsPath) = ("/files", true) } }
    ) { proxy in
      let (_, response) = try await proxy.exchange(
        "GET /files/a HTTP/1.1\r\nHost: h\r\n\r\n",
        "HTTP/1.1 308 Permanent Redirect\r\nCache-Control: max-age=60\r\nLocation: /a/\r\n"
          + "Content-Location: /b\r\nContent-Length: 0\r\n\r\n")
      var answers = [response]
      for _ in 0..<2 {
        let client = try proxy.connect(sending: "GET /files/a HTTP/1.1\r\nHost: h\r\n\r\n")
        answers.append(try await client.receiveHead())
        #expect(field("Cache-Status", in: answers.last ?? "")?.contains("hit") == true)
      }
      for answer in answers {
        #expect(field("Location", in: answer) == "/files/a/")
        #expect(field("Content-Location", in: answer) == "/files/b")
      }
    }
  }

  @Test("the first route that matches counts; without one the client gets 404")
  func first() async throws {
    try await withProxy(configure: { configuration in
      configuration.changeRoutes { routes in
        var files = routes[0]
        files.path = "/files"
        files.stripsPath = true
        files.basePath = "/pub"
        routes[0].host = "only.example"
        routes.insert(files, at: 0)
      }
    }) { proxy in
      let (request, _) = try await proxy.exchange("GET /x/../files/a%2e HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(request.hasPrefix("GET /pub/a. HTTP/1.1"))
      let client = try proxy.connect(sending: "GET /files/../else HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 404 "))
      let (other, _) = try await proxy.exchange("GET /else HTTP/1.1\r\nHost: ONLY.example\r\n\r\n")
      #expect(other.hasPrefix("GET /else HTTP/1.1"))
    }
  }

  @Test("fields are set, removed and kept in requests and responses, from the origin and from the cache")
  func fields() async throws {
    var rules = FieldRules()
    rules.set = [HTTPField(name: HTTPField.Name("X-Set") ?? .age, value: "1")]
    rules.removed = ["x-*", "cookie"]
    rules.kept = ["x-keep"]
    try await withProxy(
      cache: try memoryCache(),
      configure: { [rules] configuration in
        configuration.changeRoutes { ($0[0].requestFields, $0[0].responseFields) = (rules, rules) }
      }
    ) { proxy in
      let fields = "X-Drop: 1\r\nX-Keep: 2\r\nX-Set: 0\r\n"
      let (first, origin, request) = try await proxy.open(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nCookie: c\r\n\(fields)\r\n")
      origin.send(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n\(fields)\r\na")
      // The response is stored once all of it has arrived.
      let response = try await first.receiveAll()
      for head in [request, response] {
        #expect(field("X-Drop", in: head) == nil)
        #expect(field("X-Keep", in: head) == "2")
        #expect(field("X-Set", in: head) == "1")
      }
      #expect(field("Cookie", in: request) == nil)
      #expect(field("X-Forwarded-For", in: request) == nil)
      for _ in 0..<2 {
        let client = try proxy.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let head = try await client.receiveHead()
        #expect(field("X-Drop", in: head) == nil && field("X-Set", in: head) == "1", "\(head)")
        #expect(field("Cache-Status", in: head)?.contains("hit") == true)
      }
    }
  }

  @Test("fields are removed from interim responses and trailers, too")
  func fieldsElsewhere() async throws {
    var rules = FieldRules()
    rules.removed = ["x-drop"]
    try await withProxy(configure: { [rules] configuration in
      configuration.changeRoutes { ($0[0].requestFields, $0[0].responseFields) = (rules, rules) }
    }) { proxy in
      let (fields, end) = ("X-Drop: 1\r\nX-Keep: 2\r\n\r\n", "1\r\na\r\n0\r\nX-Keep: 2\r\n\r\n")
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\(fields)")
      #expect(try await peer.receiveHead() == end)
      peer.send("HTTP/1.1 103 Early Hints\r\n\(fields)")
      let hints = try await client.receiveHead()
      #expect(field("X-Drop", in: hints) == nil && field("X-Keep", in: hints) == "2")
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\(fields)")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      #expect(try await client.receiveHead() == end)
    }
  }

  @Test("a route without the cache asks the origin each time")
  func uncached() async throws {
    try await withProxy(
      cache: try memoryCache(),
      configure: { $0.changeRoutes { $0[0].isCached = false } }
    ) { proxy in
      for _ in 0..<2 {
        _ = try await proxy.exchange(
          "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
          "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n\r\na")
      }
    }
  }

  @Test("requests of an open connection follow new routes")
  func changed() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      proxy.server.setMode(.gateway([]))
      client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 404 "))
    }
  }
}
