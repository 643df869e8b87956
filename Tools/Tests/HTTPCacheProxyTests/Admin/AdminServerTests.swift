import HTTPCacheTesting
import NIOCore
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("The admin listener", .timeLimit(.minutes(10))) struct AdminServerTests {
  private static let token = "0123456789abcdef"

  private func withServer(
    token: String?, messages: RecordedMessages = RecordedMessages(), _ body: (Int) async throws -> Void
  ) async throws {
    let server = try await AdminServer.start(
      host: "127.0.0.1", port: 0, access: AdminAccess(token: token, open: ["/page"]),
      group: MultiThreadedEventLoopGroup.singleton, logger: messages.logger
    ) { request in
      if request.target == "/parts" {
        return AdminResponse(
          body: "a",
          rest: AsyncStream {
            for part in ["b", "c"] { $0.yield(part) }; $0.finish()
          })
      }
      if request.method == "POST" {
        var response = AdminResponse(status: 405, body: "405")
        response.allow = "GET, HEAD"
        return response
      }
      return AdminResponse(body: "\(request.method) \(request.target) \(request.hasToken)")
    }
    do {
      try await body(try #require(server.port))
    } catch {
      await server.shutDown()
      throw error
    }
    await server.shutDown()
  }

  private func answer(_ port: Int, _ request: String) async throws -> String {
    let client = try RawPeer.connect(port)
    client.send(request)
    return try await client.receiveAll()
  }

  @Test("with a token, requests without it or with another one get 401; health checks need none")
  func token() async throws {
    try await withServer(token: Self.token) { port in
      for fields in [
        "", "Authorization: Bearer 0123456789abcdeg\r\n", "Authorization: Basic \(Self.token)\r\n",
      ] {
        let answer = try await answer(port, "GET /metrics HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 401 "))
        #expect(field("WWW-Authenticate", in: answer) == "Bearer")
      }
      #expect(
        try await answer(port, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").hasSuffix("GET /healthz false"))
      #expect(
        try await answer(
          port, "GET /metrics?a=b HTTP/1.1\r\nHost: h\r\nAuthorization: bearer \(Self.token)\r\n\r\n"
        ).hasSuffix("GET /metrics?a=b true"))
    }
  }

  @Test("a request to change something is logged with its client and its result, and a refusal once")
  func logged() async throws {
    let messages = RecordedMessages()
    try await withServer(token: Self.token, messages: messages) { port in
      let token = "Authorization: Bearer \(Self.token)\r\n"
      _ = try await answer(port, "GET /stats HTTP/1.1\r\nHost: h\r\n\(token)\r\n")
      _ = try await answer(port, "PURGE http://user:secret@h/a HTTP/1.1\r\nHost: h\r\n\(token)\r\n")
      for _ in 1...3 { _ = try await answer(port, "GET /stats HTTP/1.1\r\nHost: h\r\n\r\n") }
    }
    #expect(
      messages.all == [
        "admin: PURGE http://…@h/a by 127.0.0.1: PURGE http://…@h/a true",
        "admin: GET /stats by 127.0.0.1: 401: the token is missing or wrong",
      ])
  }

  @Test("a request with another Host is logged with its refusal")
  func loggedHost() async throws {
    let messages = RecordedMessages()
    try await withServer(token: nil, messages: messages) { port in
      _ = try await answer(port, "GET /stats HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    }
    #expect(messages.all.first?.hasPrefix("admin: GET /stats by 127.0.0.1: 403: without a token") == true)
  }

  @Test("an answer that is being made is sent before the connections end; one without an end is cut")
  func finishes() async throws {
    let gate = Gate()
    let server = try await AdminServer.start(
      host: "127.0.0.1", port: 0, access: AdminAccess(token: nil),
      group: MultiThreadedEventLoopGroup.singleton
    ) { request in
      if request.target == "/live" {
        return AdminResponse(body: "a", rest: AsyncStream<String> { $0.yield("b") })
      }
      try? await gate.pass()
      return AdminResponse(body: "done")
    }
    let port = try #require(server.port)
    let idle = try RawPeer.connect(port)
    let (live, held) = (try RawPeer.connect(port), try RawPeer.connect(port))
    live.send("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    _ = try await live.receive(through: "b")
    held.send("GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await gate.waitForArrivals(1)
    await server.shutDown()
    async let end: Void = server.finish(until: NIODeadline.now() + .minutes(10))
    _ = try await live.receiveAll()
    _ = try await idle.receiveAll()
    gate.open()
    #expect(try await held.receiveAll().hasSuffix("done"))
    await end
  }

  @Test("the answer to another method names those that the path has (RFC 9110 §15.5.6)")
  func allow() async throws {
    try await withServer(token: nil) { port in
      let answer = try await answer(port, "POST /stats HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(field("Allow", in: answer) == "GET, HEAD")
    }
  }

  @Test("a request with two Hosts is refused (RFC 9112 §3.2)")
  func twoHosts() async throws {
    try await withServer(token: nil) { port in
      let answer = try await answer(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: h\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test("a page without data needs no token, whatever its query; other paths do")
  func page() async throws {
    try await withServer(token: Self.token) { port in
      for (target, status) in [("/page", 200), ("/page?a", 200), ("/page/x", 401), ("/", 401)] {
        let answer = try await answer(port, "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(target)")
      }
    }
  }

  @Test("a body in parts is sent as it comes, in chunks, and ends the connection; HEAD waits for no part")
  func parts() async throws {
    try await withServer(token: nil) { port in
      let answer = try await answer(port, "GET /parts HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(field("Content-Length", in: answer) == nil)
      #expect(answer.hasSuffix("\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"))
      let head = try await self.answer(port, "HEAD /parts HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(head.hasSuffix("\r\n\r\n"))
    }
  }

  @Test("without a token, Host must be an address or localhost, against names that resolve to this machine")
  func host() async throws {
    try await withServer(token: nil) { port in
      for host in ["127.0.0.1:\(port)", "localhost", "[::1]:80"] {
        let answer = try await answer(port, "GET /stats HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
      }
      let answer = try await answer(port, "GET /stats HTTP/1.1\r\nHost: evil.example\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 403 "))
    }
  }

  @Test("an answer is not stored by caches, and ends the connection; HEAD has no body")
  func framing() async throws {
    try await withServer(token: nil) { port in
      let answer = try await answer(port, "HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(field("Cache-Control", in: answer) == "no-store")
      #expect(field("Connection", in: answer) == "close")
      #expect(answer.hasSuffix("\r\n\r\n"))
      let malformed = try await self.answer(port, "nonsense\r\n\r\n")
      #expect(malformed.hasPrefix("HTTP/1.1 400 ") && malformed.hasSuffix("400: the request is malformed\n"))
    }
  }

  @Test("a connection has one request: what follows it is not answered, and does nothing")
  func pipelined() async throws {
    let answered = Counter()
    let server = try await AdminServer.start(
      host: "127.0.0.1", port: 0, access: AdminAccess(token: nil),
      group: MultiThreadedEventLoopGroup.singleton
    ) { _ in
      answered.increment()
      return AdminResponse(body: "ok")
    }
    let request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    let page = try await answer(try #require(server.port), request + request)
    #expect(page.hasSuffix("ok") && page.ranges(of: "HTTP/1.1").count == 1)
    await server.shutDown()
    #expect(answered.value == 1)
  }

  @Test("the listener is opened again after NIO has closed it")
  func openedAgain() async throws {
    let server = try await AdminServer.start(
      host: "127.0.0.1", port: 0, access: AdminAccess(token: nil),
      group: MultiThreadedEventLoopGroup.singleton
    ) { _ in AdminResponse(body: "ok") }
    try await server.listener.channel.close()
    try await eventually { server.listener.channel.isActive }
    let page = try await answer(
      try #require(server.port), "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    #expect(page.hasSuffix("ok"))
    await server.shutDown()
  }
}
