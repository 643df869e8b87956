import HTTPCaching
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("HTTP/2 from clients (RFC 9113)", .timeLimit(.minutes(10))) struct HTTP2Tests {
  @Test("a response is stored and answered again, to HTTP/1.1 too")
  func caching() async throws {
    try await withHTTP2(cache: memoryCache()) { proxy in
      let (client, peer, head) = try await proxy.openHTTP2("/a", [("cookie", "a=1"), ("cookie", "b=2")])
      #expect(head.hasPrefix("GET /a HTTP/1.1\r\n") && field("Cookie", in: head) == "a=1; b=2")
      #expect(field("Via", in: head)?.hasPrefix("2 ") == true)
      peer.send(
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nCache-Control: max-age=60\r\nConnection: x\r\nX: y\r\nKeep-Alive: a\r\n\r\nbody"
      )
      let first = try await client.response(1)
      #expect(first.status == "200" && first.text == "body" && first["content-length"] == "4")
      #expect(first["connection"] == nil && first["keep-alive"] == nil && first["x"] == nil)
      client.request(3, "/a")
      let second = try await client.response(3)
      #expect(second.text == "body" && second["cache-status"]?.contains("hit") == true)
      let other = try proxy.connect(sending: "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      #expect(try await other.receiveAll().hasSuffix("\r\n\r\nbody"))
      client.request(5, "/a", method: "HEAD")
      let third = try await client.response(5)
      #expect(third.status == "200" && third.body.isEmpty && third["content-length"] == "4")
    }
  }

  @Test("Location has escapes for octets outside of ASCII, which values over HTTP/2 lose (RFC 3986 §2.5)")
  func location() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2()
      peer.send("HTTP/1.1 302 Found\r\nLocation: /caf\u{e9}\r\nContent-Length: 0\r\n\r\n")
      #expect(try await client.response(1)["location"] == "/caf%E9")
    }
  }

  @Test("streams are answered in any order")
  func order() async throws {
    try await withHTTP2 { proxy in
      let (client, slow, _) = try await proxy.openHTTP2("/slow")
      client.request(3, "/fast")
      let (fast, _) = try await proxy.origin.acceptRequest()
      fast.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfast")
      #expect(try await client.response(3).text == "fast")
      slow.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
      #expect(try await client.response(1).text == "slow")
    }
  }

  @Test("content, interim responses and trailers pass in both directions")
  func content() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.request(1, "/a", method: "POST", [("te", "trailers"), ("expect", "100-continue")], ends: false)
      async let accepted = proxy.origin.acceptRequest()
      let (peer, head) = try await accepted
      #expect(field("Transfer-Encoding", in: head) == "chunked" && field("TE", in: head) == "trailers")
      client.send(HTTP2Peer.data, 1, Array("cont".utf8))
      client.send(HTTP2Peer.data, 1, Array("ent".utf8))
      client.send(HTTP2Peer.headers, flags: 5, 1, HTTP2Peer.block([("x-sum", "7"), ("content-length", "9")]))
      var body = ""
      while !body.hasSuffix("\r\n\r\n") { body += try await peer.receive(count: 1) }
      #expect(body.contains("cont") && body.contains("x-sum: 7") && !body.contains("content-length"))
      peer.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 0\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-End: 1\r\n\r\n")
      let response = try await client.response(1)
      #expect(response.interim.contains("103") && response.text == "ok")
      #expect(response.interimFields.contains { $0.0 == "link" })
      #expect(response.interimFields.contains { $0.0 == "via" && $0.1.hasPrefix("1.1 httpcache-") })
      #expect(!response.interimFields.contains { $0.0 == "content-length" })
      #expect(response.trailers.map(\.0) == ["x-end"] && response["content-length"] == nil)
    }
  }

  @Test("a client that resets its stream ends the request to the origin; the connection stays")
  func reset() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2()
      client.send(HTTP2Peer.reset, 1, [0, 0, 0, 8])
      #expect(try await peer.receiveAll() == "")
      try await proxy.expectAnswer(to: client, 3)
    }
  }

  @Test("a request whose connection ends within its body is not complete for the origin")
  func brokenRequest() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2("/a", method: "POST", ends: false)
      client.send(HTTP2Peer.data, 1, Array("part".utf8))
      var body = ""
      while !body.contains("part") { body += try await peer.receive(count: 1) }
      client.end()
      #expect(try await !peer.receiveAll().contains("0\r\n"))
    }
  }

  @Test("a response that breaks off is reset, so that it does not look complete")
  func brokenOff() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2()
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
      peer.end()
      let response = try await client.response(1)
      #expect(response.reset != nil)
      #expect(response.status == "200", "what arrived before goes first")
    }
  }

  @Test("a client that does not read gets no more than its window, and the origin waits")
  func window() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2()
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
      let sent = await peer.send([UInt8](repeating: 1, count: 100_000_000), milliseconds: 500)
      #expect(sent < 30_000_000)
      try await client.receive(65_535, of: 1)
      // Another stream is served meanwhile.
      client.send(HTTP2Peer.windowUpdate, 0, [0, 1, 0, 0])
      client.request(3)
      let (next, _) = try await proxy.origin.acceptRequest()
      next.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      #expect(try await client.response(3).text == "ok")
    }
  }

  @Test("a response before the end of the request ends both without an error")
  func early() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2("/a", method: "POST", ends: false)
      peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
      #expect(try await client.response(1).status == "413")
      #expect(try await client.next(HTTP2Peer.reset).payload == [0, 0, 0, 0])
    }
  }

  @Test(
    "a response before the end of the request is whole, however late the client takes its end (RFC 9113 §8.1)"
  )
  func earlyAndSlow() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2("/a", method: "POST", ends: false)
      peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 66000\r\n\r\n")
      await peer.send([UInt8](repeating: 65, count: 66_000))
      // The window that a connection and a stream begin with.
      try await client.receive(65_535, of: 1)
      client.widen(0, by: 1_000)
      client.widen(1, by: 1_000)
      let response = try await client.response(1)
      #expect(response.body.count == 66_000 && response.reset == nil)
      #expect(try await client.next(HTTP2Peer.reset).payload == [0, 0, 0, 0])
    }
  }

  /// A GET of `/` with some of its fields replaced.
  private static func fields(_ changed: [String: String?], and more: [(String, String)] = []) -> [(
    String, String
  )] {
    let usual = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "h")]
    let kept = usual.compactMap { name, value -> (String, String)? in
      guard let new = changed[name] else { return (name, value) }
      return new.map { (name, $0) }
    }
    return kept + more
  }

  private static let malformedRequests: [(String, [(String, String)])] = [
    ("501", fields([":method": "CONNECT", ":scheme": nil, ":path": nil])),
    ("400", fields([:], and: [("host", "other")])),
    ("400", fields([":path": "a"])),
    ("400", fields([":path": "/a b"])),
    ("400", fields([:], and: [("te", "gzip")])),
    ("400", fields([":authority": nil])),
    ("400", fields([":authority": "user@h"])),
    ("400", fields([":authority": "h h"])),
    ("400", fields([":scheme": "ftp"])),
    ("400", fields([":scheme": "http://other/?"])),
    ("400", fields([":scheme": "\u{9b}31m"])),
    ("400", fields([":path": "*"])),
  ]

  @Test("a malformed request is refused and never reaches the origin", arguments: malformedRequests.indices)
  func malformed(_ index: Int) async throws {
    let (status, fields) = Self.malformedRequests[index]
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.send(HTTP2Peer.headers, flags: 5, 1, HTTP2Peer.block(fields))
      let response = try await client.response(1)
      #expect(response.status == status || response.reset != nil)
      #expect(proxy.upstream.connectionCounts.open == 0)
    }
  }

  @Test("Content-Length that is not that of the data is an error, and the origin gets no whole request")
  func contentLength() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2(
        "/a", method: "POST", [("content-length", "3")], ends: false)
      client.send(HTTP2Peer.data, flags: 1, 1, [65])
      #expect(try await client.response(1).reset != nil)
      #expect(try await peer.receiveAll().utf8.count < 3)
    }
  }

  @Test("shutting down lets a stream end, and tells the client that no more are served")
  func shutdown() async throws {
    try await withHTTP2 { proxy in
      let (busy, idle) = (try HTTP2Peer(proxy.port), try HTTP2Peer(proxy.port))
      busy.request(1)
      let (peer, _) = try await proxy.origin.acceptRequest()
      try await eventually { proxy.server.connectionCount == 2 }
      async let end: Void = proxy.server.shutDown(deadline: .seconds(600))
      // After GOAWAY the server waits for the answer to a PING, so that no stream on its way is lost.
      func answerPing(_ client: HTTP2Peer) async throws -> Bool {
        var (frame, isToldToGo) = (try await client.next(), false)
        while frame.type != HTTP2Peer.ping {
          isToldToGo = isToldToGo || frame.type == HTTP2Peer.goAway
          frame = try await client.next()
        }
        client.send(HTTP2Peer.ping, flags: 1, 0, frame.payload)
        return isToldToGo
      }
      #expect(try await answerPing(idle))
      _ = try await idle.rest()
      #expect(try await answerPing(busy))
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast")
      #expect(try await busy.response(1).text == "last")
      await end
      #expect(proxy.server.connectionCount == 0)
    }
  }

  @Test("shutting down does not wait beyond its deadline")
  func shutdownDeadline() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2()
      await proxy.server.shutDown(deadline: .milliseconds(50))
      #expect(try await client.rest().allSatisfy { $0.type != HTTP2Peer.headers })
      #expect(try await peer.receiveAll() == "")
    }
  }

  @Test("too many connections of a client are closed")
  func connections() async throws {
    try await withHTTP2(configure: {
      $0.connectionsPerClient = 1
      $0.limitsLoopback = true
    }) { proxy in
      let first = try HTTP2Peer(proxy.port)
      try await eventually { proxy.server.connectionCount == 1 }
      #expect(try await HTTP2Peer(proxy.port).rest().isEmpty)
      #expect(proxy.server.connectionCount == 1)
      first.end()
      try await eventually { proxy.server.connectionCount == 0 }
    }
  }

  @Test("a finished request is counted and shown")
  func log() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      let finished = proxy.server.requests()
      try await proxy.expectAnswer(to: client, 1, "/logged")
      for await request in finished {
        #expect(request.target.contains("/logged") && request.status == 204)
        break
      }
    }
  }
}
