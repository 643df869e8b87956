import ArgumentParser
import Foundation
import HTTPCaching
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheCommand
@testable import HTTPCacheProxy

@Suite("The dashboard, top and log, over a real admin listener", .timeLimit(.minutes(10))) struct WatchTests {
  /// Runs `body` with the port of a proxy that has answered three requests, and the address of its admin listener.
  private func withListener(_ body: (_ proxy: Int, _ admin: String) async throws -> Void) async throws {
    let unused = try UnusedPort()
    defer { withExtendedLifetime(unused) {} }
    try await withAdminRoutes(origin: Origin(isSecure: false, host: "127.0.0.1", port: unused.number)) {
      routes in
      let admin = try await AdminServer.start(
        host: "127.0.0.1", port: 0, access: AdminAccess(token: nil, open: DashboardPage.paths),
        group: MultiThreadedEventLoopGroup.singleton
      ) { await routes.answer($0) }
      let proxy = try #require(routes.server.port)
      // Nothing listens at its origin, so that each is an error.
      for _ in 0..<3 { await request(proxy) }
      // A request is counted after its response.
      try await eventually { await routes.get("/missed").body.contains("\"requests\":3") }
      do {
        try await body(proxy, "127.0.0.1:\(try #require(admin.port))")
      } catch {
        await admin.shutDown()
        throw error
      }
      await admin.shutDown()
    }
  }

  private func request(_ port: Int) async {
    // Throws, because the answer is 502.
    try? await AdminClient(address: "127.0.0.1:\(port)", token: nil).lines(of: "/unreachable") { _ in }
  }

  @Test("the page and its parts come without data, and forbid everything from elsewhere")
  func page() async throws {
    try await withAdminRoutes { routes in
      for (path, type) in [
        ("/", "text/html"), ("/dashboard.css", "text/css"), ("/dashboard.js", "text/javascript"),
      ] {
        let answer = await routes.get(path)
        #expect(answer.status == 200)
        #expect(answer.contentType == "\(type); charset=utf-8")
        #expect(answer.contentSecurityPolicy?.hasPrefix("default-src 'none'; script-src 'self';") == true)
        #expect(DashboardPage.paths.contains(path))
        // Nothing that another host could see or change.
        #expect(!answer.body.contains("src=\"http") && !answer.body.contains("url("))
      }
      #expect(await routes.get("/dashboard.html").status == 404)
    }
  }

  @Test("missed targets with their reasons; an unknown order is named")
  func missed() async throws {
    try await withListener { _, admin in
      let client = AdminClient(address: admin, token: nil)
      for order in ["requests", "time"] {
        try await client.lines(of: "/missed?by=\(order)") { line in
          let rows = try JSONDecoder().decode([AdminMissed].self, from: Data(line.utf8))
          #expect(rows.map(\.target) == ["/unreachable"])
          #expect(rows.first?.requests == 3)
          #expect(rows.first?.outcome == "error-unreachable")
        }
      }
      await #expect(throws: StartFailure.self) { try await client.lines(of: "/missed?by=size") { _ in } }
    }
  }

  @Test("stored bytes by host")
  func hosts() async throws {
    try await withAdminRoutes { routes in
      let answer = try await routes.object("/hosts")
      #expect(answer["isComplete"] as? Bool == true)
      let hosts = try #require(answer["hosts"] as? [[String: Any]])
      #expect(hosts.map { $0["host"] as? String } == ["h"])
      #expect(hosts.first?["entries"] as? Int == 2)
    }
  }

  @Test("top prints the figures of a second")
  func top() async throws {
    try await withListener { _, admin in
      let run = await CommandRun.success("top", "--admin", admin, "--count", "1")
      #expect(run.output.contains("requests/s") && run.output.contains("hit ratio"))
      let json = await CommandRun("top", "--admin", "http://\(admin)/", "--count", "1", "--json")
      let sample = try JSONDecoder().decode(AdminLive.self, from: Data(json.output.utf8))
      #expect(sample.memoryEntries == 2)
    }
  }

  @Test("the screen of top shows each figure, and control characters of clients' targets as text")
  func screen() throws {
    var traffic = AdminLive(TrafficTotals(), seconds: 1, at: 0, .init(), connections: 3)
    traffic.outcomes = ["hit": 3, "miss": 1]
    traffic.requests = 4
    traffic.memoryCapacity = 1 << 20
    var screen = TopScreen()
    #expect(screen.isDue)
    let missed =
      #"[{"target":"/\u001b[2Ja","requests":7,"uncertainty":0,"meanSeconds":0.5,"slowestSeconds":2,"outcome":"miss","status":200,"reason":"no-store"}]"#
    screen.missed = try JSONDecoder().decode([AdminMissed].self, from: Data(missed.utf8))
    let text = screen.text(traffic, of: "127.0.0.1:9180")
    #expect(!screen.isDue)
    for part in [
      "4 requests/s", "hit ratio 75.0 %", "hit 3  miss 1", "0 B of 1.0 MiB", "not used", "no-store", "500 ms",
      "2.0 s",
    ] {
      #expect(text.contains(part), "\(part)")
    }
    #expect(!text.contains("\u{1B}[2J"))
  }

  @Test("log prints the requests that its filters choose, as they finish")
  func log() async throws {
    try await withListener { proxy, admin in
      async let run = CommandRun("log", "--admin", admin, "--count", "1", "--url", "unreach")
      async let json = CommandRun(
        "log", "--admin", admin, "--count", "1", "--outcome", "error-unreachable", "--json")
      // Until both have subscribed and seen one.
      let requests = Task {
        while !Task.isCancelled { await request(proxy) }
      }
      let (text, object) = await (run, json)
      requests.cancel()
      _ = await requests.result
      #expect(text.output.contains("127.0.0.1  GET /unreachable  502"), "\(text.output) \(text.errors)")
      let line = try JSONDecoder().decode(AdminRequestLine.self, from: Data(object.output.utf8))
      #expect(line.outcome == "error-unreachable" && line.status == 502)
    }
  }

  @Test("top and log end after their reader, without a message", arguments: ["top", "log"])
  func readerGone(command: String) async throws {
    let directory = try ScratchFolder()
    try await withListener { proxy, admin in
      let pipe = Pipe()
      try pipe.fileHandleForReading.close()
      let process = try await CommandProcess(
        [command, "--admin", admin], in: directory, output: pipe.fileHandleForWriting.fileDescriptor)
      try pipe.fileHandleForWriting.close()
      let requests = Task {
        while !Task.isCancelled { await request(proxy) }
      }
      let end = try await process.end()
      requests.cancel()
      _ = await requests.result
      #expect(end.status == ExitStatus.output.rawValue)
      #expect(end.errors.isEmpty, "\(end.errors)")
    }
  }

  @Test("a filter chooses by a part of the target, by outcomes, and by client")
  func filter() throws {
    let request = AccessLog.Entry(
      client: "127.0.0.1", method: "GET", target: "/api/a", status: 200, bytes: 1, microseconds: 1,
      outcome: "miss")
    #expect(try RequestFilter(target: nil, outcomes: nil, client: nil).matches(request))
    #expect(try RequestFilter(target: "/api/", outcomes: "hit,miss", client: "127.0.0.1").matches(request))
    #expect(try !RequestFilter(target: "/other", outcomes: nil, client: nil).matches(request))
    #expect(try !RequestFilter(target: nil, outcomes: "hit", client: nil).matches(request))
    #expect(try !RequestFilter(target: nil, outcomes: nil, client: "127.0.0.2").matches(request))
    #expect(throws: ValidationError.self) { try RequestFilter(target: nil, outcomes: nil, client: "nope") }
    // One of the two would not be purged.
    #expect(throws: ValidationError.self) {
      try AdminQuery("/purge?url=http://a.test/1&url=http://a.test/2")
    }
    #expect(try AdminQuery("/purge?url=http://a.test/1&soft")["url"] == "http://a.test/1")
  }

  @Test(
    "the admin listener: a host without a port gets the default port, a URL keeps that of its scheme",
    arguments: [
      ("h", "h:9180"), ("127.0.0.1", "127.0.0.1:9180"), ("[::1]", "[::1]:9180"), ("h:80", "h:80"),
      ("http://h", "http://h"), ("https://h:1/x", "https://h:1/x"), ("::1", nil), ("h:", nil), ("h:x", nil),
      ("", nil), ("h:0", nil),
    ])
  func address(argument: String, expected: String?) {
    #expect(AdminAddress(argument: argument)?.description == expected)
    let parsed = try? TopCommand.parse(["--admin", argument])
    #expect(parsed?.listener.admin.description == expected)
  }

  @Test(
    "an unknown outcome is refused, with the list of all", arguments: ["mis", "hit,mis", "aborted", "Hit"])
  func unknownOutcome(words: String) async throws {
    let run = await CommandRun.failure(.usage, "log", "--admin", "127.0.0.1:1", "--outcome", words)
    let wrong = words.split(separator: ",").last ?? ""
    for part in [
      "--outcome must be among hit, stale, ", ", miss, ", ", error-unreachable, ", "(got '\(wrong)')",
    ] {
      #expect(run.errors.contains(part), "\(run.errors)")
    }
    try await withAdminRoutes { routes in
      let answer = await routes.get("/requests?outcome=\(words)")
      #expect(answer.status == 400 && answer.body.hasPrefix("400: outcome must be among hit, "))
    }
  }

  @Test("each outcome can be chosen, also of responses that broke off")
  func outcomes() throws {
    for outcome in RequestOutcome.allCases {
      _ = try RequestFilter(target: nil, outcomes: "\(outcome.rawValue),\(outcome.aborted)", client: nil)
    }
    // Each kind of failure is an outcome.
    for kind in UpstreamError.Kind.allCases {
      #expect(Refusal(UpstreamError(kind, "")).label.rawValue == "error-\(kind.rawValue)")
    }
  }

  @Test("the port of the proxy is not that of the admin listener", arguments: ["top", "log"])
  func proxyPort(command: String) async throws {
    let expected = { (address: String) in
      "httpcache: http://\(address) is not the admin listener of httpcache serve: --admin requires the address of serve --admin\n"
    }
    try await withListener { proxy, _ in
      let run = await CommandRun.failure(.failure, command, "--admin", "127.0.0.1:\(proxy)")
      #expect(run.errors == expected("127.0.0.1:\(proxy)"))
    }
    // As an origin behind the proxy may answer.
    for head in ["HTTP/1.1 200 OK\r\nContent-Type: text/html", "HTTP/1.1 404 Not Found"] {
      let origin = try await ScriptedOrigin { _ in
        ScriptedOrigin.Answer(head: head + "\r\nContent-Length: 5", body: Array("<br>\n".utf8))
      }
      let run = await CommandRun(command, "--admin", origin.authority)
      #expect(run.errors == expected(origin.authority))
    }
  }

  @Test("a listener that ends within its answer is named, without the error of a library")
  func cutShort() async throws {
    let origin = try await ScriptedOrigin { _ in
      ScriptedOrigin.Answer(
        head: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked",
        body: Array("6\r\ndata: ".utf8))
    }
    let run = await CommandRun.failure(.failure, "top", "--admin", origin.authority)
    #expect(
      run.errors == "httpcache: the admin listener at http://\(origin.authority) ended the connection\n")
  }

  @Test("the line of a fleet names the last contact with the tier, which is not how far a node is behind")
  func fleetLine() throws {
    let fleet =
      #"{"node":"n","isConnected":true,"lastContactSeconds":0.25,"position":"1-0","pendingChanges":1,"sharedHits":2,"sharedBytes":3}"#
    let figures = try JSONDecoder().decode(AdminFleet.self, from: Data(fleet.utf8))
    #expect(figures.line == "connected, last contact 250 ms ago, 1 waiting change, 2 shared hits, 3 B")
    var text = PrometheusText()
    figures.add(to: &text)
    #expect(text.text.contains("\nhttpcache_fleet_last_contact_seconds 0.25\n"))
  }

  @Test("a listener that cannot be reached, or refuses, is named")
  func failures() async throws {
    let closed = await CommandRun("top", "--admin", "127.0.0.1:1")
    #expect(closed.status == 1)
    #expect(closed.errors.hasPrefix("httpcache: cannot reach the admin listener at http://127.0.0.1:1: "))
    #expect(await CommandRun("top", "--count", "0").errors.contains("--count must be at least 1 (got 0)"))
    let missing = await CommandRun("log", "--admin-token-file", "/nonexistent/token")
    #expect(missing.errors == "httpcache: --admin-token-file /nonexistent/token: cannot be read\n")
  }
}
