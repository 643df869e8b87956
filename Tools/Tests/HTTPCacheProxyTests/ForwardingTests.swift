import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("A request and its response on their way through", .timeLimit(.minutes(10))) struct ForwardingTests {
  @Test("a GET goes to the upstream's authority and its answer comes back")
  func get() async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open(
        "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nX-Test: 1\r\n\r\n")
      #expect(head.hasPrefix("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:\(proxy.origin.port)\r\n"))
      #expect(field("X-Test", in: head) == "1")
      peer.send("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX-Back: 2\r\n\r\nhello")
      let answer = try await client.receiveHead()
      #expect(answer.hasPrefix("HTTP/1.1 200 Fine\r\n"))
      #expect(field("X-Back", in: answer) == "2")
      #expect(field("Content-Length", in: answer) == "5")
      #expect(try await client.receive(count: 5) == "hello")
    }
  }

  @Test("the upstream's path goes before the request's")
  func basePath() async throws {
    try await withProxy(basePath: "/base") { proxy in
      let (request, _) = try await proxy.exchange("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(request.hasPrefix("GET /base/a HTTP/1.1\r\n"))
    }
  }

  @Test("absolute-form is understood by a gateway too (RFC 9112 §3.2.2)")
  func absoluteForm() async throws {
    try await withProxy { proxy in
      let (request, _) = try await proxy.exchange("GET http://h/a HTTP/1.1\r\nHost: other\r\n\r\n")
      #expect(request.hasPrefix("GET /a HTTP/1.1\r\n"))
      #expect(field("X-Forwarded-Host", in: request) == "h")
    }
  }

  @Test("Via is added both ways, after what is there (RFC 9110 §7.6.3)")
  func via() async throws {
    try await withProxy { proxy in
      let (request, response) = try await proxy.exchange(
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "HTTP/1.1 200 OK\r\nVia: 1.1 before\r\nContent-Length: 0\r\n\r\n")
      #expect(field("Via", in: request)?.hasPrefix("1.1 httpcache-") == true)
      let parts = response.split(separator: "Via: ")
      try #require(parts.count == 3)
      #expect(parts[1].hasPrefix("1.1 before\r\n"))
      #expect(parts[2].hasPrefix("1.1 httpcache-"))
    }
  }

  // holds 9110-7.6.1-2, 9110-7.6.1-3, 9110-7.6.1-4
  @Test("hop-by-hop fields stay on their hop, both ways (RFC 9110 §7.6.1)")
  func hopByHop() async throws {
    try await withProxy { proxy in
      let (request, response) = try await proxy.exchange(
        """
        GET / HTTP/1.1\r\nHost: h\r\nConnection: X-Mine, keep-alive\r\nX-Mine: 1\r\nKeep-Alive: 5\r\n\
        Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nTE: gzip\r\nX-Stays: 1\r\n\r\n
        """,
        """
        HTTP/1.1 200 OK\r\nConnection: x-THEIRS\r\nX-Theirs: 1\r\nKeep-Alive: timeout=5\r\n\
        Proxy-Authenticate: Basic\r\nX-Stays: 2\r\nContent-Length: 0\r\n\r\n
        """)
      for name in ["X-Mine", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "TE", "Connection"] {
        #expect(field(name, in: request) == nil, "\(name)")
      }
      #expect(field("X-Stays", in: request) == "1")
      for name in ["X-Theirs", "Keep-Alive", "Proxy-Authenticate", "Connection"] {
        #expect(field(name, in: response) == nil, "\(name)")
      }
      #expect(field("X-Stays", in: response) == "2")
    }
  }

  @Test("bytes beyond ASCII in field values and reason phrases pass unchanged (RFC 9110 §5.5)")
  func obsText() async throws {
    try await withProxy { proxy in
      let bytes = "a\u{80}\u{E9}\u{FF}\u{C3}b"
      let (request, response) = try await proxy.exchange(
        "GET / HTTP/1.1\r\nHost: h\r\nX-Bytes: \(bytes)\r\n\r\n",
        "HTTP/1.1 200 \u{E9}\r\nETag: \"\(bytes)\"\r\nContent-Length: 0\r\n\r\n")
      #expect(request.contains("X-Bytes: \(bytes)\r\n"))
      #expect(response.contains("ETag: \"\(bytes)\"\r\n"))
      #expect(response.hasPrefix("HTTP/1.1 200 \u{E9}\r\n"))
    }
  }

  @Test("several fields of one name stay apart and in order")
  func repeated() async throws {
    try await withProxy { proxy in
      let (_, response) = try await proxy.exchange(
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: y\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n")
      #expect(response.contains("Set-Cookie: a=1\r\nX: y\r\nSet-Cookie: b=2\r\n"))
    }
  }

  @Test(
    "a method is a token like any other",
    arguments: ["M-SEARCH", "PURGE", "XYZZY", "get"])
  func methods(_ method: String) async throws {
    try await withProxy { proxy in
      let (request, response) = try await proxy.exchange(
        "\(method) / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n")
      #expect(request.hasPrefix("\(method) / HTTP/1.1\r\n"))
      #expect(response.hasPrefix("HTTP/1.1 204 "))
    }
  }

  @Test("a response to HEAD has no body, whatever its length says", arguments: ["HEAD"])
  func head(_ method: String) async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("\(method) / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
      let answer = try await client.receiveHead()
      #expect(field("Content-Length", in: answer) == "1000")
      client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await peer.receiveHead().hasPrefix("GET /2 "))
      peer.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 304 "))
      client.send("GET /3 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await peer.receiveHead().hasPrefix("GET /3 "))
      try await peer.answerNoContent(to: client)
    }
  }

  @Test("interim responses pass, in order, before the final one (RFC 9110 §15.2)")
  func interim() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send(
        "HTTP/1.1 102 Processing\r\n\r\n"
          + "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 0\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 102 "))
      let hints = try await client.receiveHead()
      #expect(hints.hasPrefix("HTTP/1.1 103 Early Hints\r\n"))
      #expect(field("Link", in: hints) == "</a>")
      // RFC 9110 §8.6, §7.6.3.
      #expect(field("Content-Length", in: hints) == nil)
      #expect(field("Via", in: hints)?.hasPrefix("1.1 httpcache-") == true)
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      let final = try await client.receiveHead()
      #expect(final.hasPrefix("HTTP/1.1 200 "))
      #expect(field("Link", in: final) == nil)
      #expect(try await client.receive(count: 2) == "ok")
    }
  }

  @Test("a client of HTTP/1.0 gets neither interim responses nor chunks, and its connection closed")
  func oldClient() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      peer.send("HTTP/1.1 103 Early Hints\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
      let all = try await client.receiveAll()
      #expect(all.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(all.hasSuffix("\r\n\r\nabc"))
      #expect(field("Connection", in: all) == "close")
    }
  }
}
