import NIOCore
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Connections and their reuse", .timeLimit(.minutes(10))) struct ConnectionTests {
  private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

  @Test("both connections serve one request after the other")
  func keepAlive() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      for number in 1...3 {
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")
        _ = try await client.receiveHead()
        #expect(try await client.receive(count: 1) == "\(number)")
        client.send(get)
        _ = try await peer.receiveHead()
      }
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("pipelined requests are answered in their order (RFC 9112 §9.3.2)")
  func pipelining() async throws {
    try await withProxy { proxy in
      let client = try proxy.connect(
        sending:
          "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
      )
      let (first, head) = try await proxy.origin.acceptRequest()
      #expect(head.hasPrefix("POST /1 "))
      #expect(try await first.receive(count: 3) == "abc")
      first.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
      #expect(try await first.receiveHead().hasPrefix("GET /2 "))
      first.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n2\r\n0\r\n\r\n")
      #expect(try await first.receiveHead().hasPrefix("GET /3 "))
      first.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3")
      let parts = try await client.receiveAll().split(separator: "HTTP/1.1 200 OK\r\n")
      try #require(parts.count == 3)
      #expect(parts[0].hasSuffix("\r\n\r\n1"))
      #expect(parts[1].hasSuffix("\r\n\r\n1\r\n2\r\n0\r\n\r\n"))
      #expect(parts[2].hasSuffix("\r\n\r\n3"))
      #expect(field("Connection", in: String(parts[2])) == "close")
    }
  }

  @Test("a client that has ended its output is still answered")
  func halfClosed() async throws {
    try await withProxy { proxy in
      let client = try proxy.connect(sending: get)
      client.finish()
      let (peer, _) = try await proxy.origin.acceptRequest()
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      #expect(try await client.receiveAll().hasSuffix("\r\n\r\nok"))
    }
  }

  @Test("a body that the origin's answer did not wait for is drained from the connection")
  func unreadBody() async throws {
    try await withProxy { proxy in
      let client = try proxy.connect(
        sending: "OPTIONS / HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\nContent-Length: 5\r\n\r\nabcde\(get)")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      let (peer, _) = try await proxy.origin.acceptRequest()
      try await peer.answerNoContent(to: client)
    }
  }

  @Test("an origin's Connection: close is obeyed")
  func originCloses() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
      _ = try await client.receiveHead()
      #expect(try await peer.receiveAll() == "")
      try await proxy.expectAnswer(to: client, get)
    }
  }

  @Test("a GET is sent again when the kept connection turns out to be closed")
  func retry() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      try await peer.answerNoContent(to: client)
      client.send("GET /again HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await peer.receiveHead().hasPrefix("GET /again "))
      peer.end()
      let (second, head) = try await proxy.origin.acceptRequest()
      #expect(head.hasPrefix("GET /again "))
      second.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("a request is not sent a third time")
  func noSecondRetry() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      try await peer.answerNoContent(to: client)
      client.send(get)
      _ = try await peer.receiveHead()
      peer.end()
      let (second, _) = try await proxy.origin.acceptRequest()
      second.end()
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("nothing is sent again once a byte of an answer has come")
  func noRetryAfterFirstByte() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      try await peer.answerNoContent(to: client)
      client.send(get)
      _ = try await peer.receiveHead()
      peer.send("HTTP/1.1 103 Early Hints\r\n\r\n")
      _ = try await client.receiveHead()
      peer.end()
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("a POST is never sent again (RFC 9110 §9.2.2)")
  func postIsNotRepeated() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      // Whether the POST would use this connection is a matter of time (`LoopConnectionsTests`).
      peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      _ = try await client.receiveHead()
      client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
      let (second, head) = try await proxy.origin.acceptRequest()
      #expect(head.hasPrefix("POST / "))
      second.end()
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("a kept connection on which the origin speaks unasked is not used")
  func unasked() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      try await peer.answerNoContent(to: client)
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
      #expect(try await peer.receiveAll() == "")
      try await proxy.expectAnswer(to: client, get)
    }
  }

  @Test("a kept connection is given up after its time")
  func idleTimeout() async throws {
    try await withProxy(upstream: .with { $0.idleTimeout = .milliseconds(50) }) { proxy in
      let (client, peer, _) = try await proxy.open(get)
      try await peer.answerNoContent(to: client)
      #expect(try await peer.receiveAll() == "")
      #expect(proxy.upstream.connectionCounts.idle == 0)
    }
  }

  @Test("connections to an origin are limited; a waiting request gets the next free one")
  func bound() async throws {
    try await withProxy(upstream: .with { $0.connectionsPerOrigin = 1 }) { proxy in
      let first = try proxy.connect()
      let second = try proxy.connect()
      first.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
      let (peer, _) = try await proxy.origin.acceptRequest()
      second.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      try await eventually { proxy.upstream.pool.waiting.load(ordering: .relaxed) == 1 }
      #expect(try await proxy.origin.acceptIfAny() == nil)
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      _ = try await first.receiveHead()
      #expect(try await peer.receiveHead().hasPrefix("GET /2 "))
      try await peer.answerNoContent(to: second)
    }
  }

  @Test("a request that waits too long for a connection gets 504")
  func boundTimesOut() async throws {
    try await withProxy(
      upstream: .with { $0.connectionsPerOrigin = 1 },
      configure: { $0.addRoute("/second", head: .milliseconds(100)) }
    ) { proxy in
      let first = try proxy.connect()
      let second = try proxy.connect()
      first.send(get)
      let (peer, _) = try await proxy.origin.acceptRequest()
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
      _ = try await first.receiveHead()
      second.send("GET /second HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await second.receiveHead().hasPrefix("HTTP/1.1 504 "))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("an unreachable origin is 502, a silent origin 504")
  func failures() async throws {
    try await withRisingLimits { limit in
      var received: String?
      try await withProxy(upstream: .with { $0.headTimeout = limit }) { proxy in
        let client = try proxy.connect(sending: get)
        let timedOut = try await client.receiveHead()
        #expect(timedOut.hasPrefix("HTTP/1.1 504 "))
        #expect(field("Cache-Status", in: timedOut) == nil)
        received = try await proxy.origin.acceptIfAny()?.receiveAll()
      }
      return received?.hasSuffix("\r\n\r\n") == true
    }
    let unused = try UnusedPort()
    try await withProxy(configure: {
      $0.mode = .reverse(Origin(isSecure: false, host: "127.0.0.1", port: unused.number), basePath: "")
    }) { proxy in
      let client = try proxy.connect(sending: get)
      let refused = try await client.receiveHead()
      #expect(refused.hasPrefix("HTTP/1.1 502 "))
      #expect(field("Cache-Status", in: refused) == nil)
    }
  }

  @Test("a body that stalls is cut off")
  func stall() async throws {
    try await withProxy(upstream: .with { $0.bodyTimeout = .milliseconds(50) }) { proxy in
      let (client, peer, _) = try await proxy.open(get)
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
      let all = try await client.receiveAll()
      #expect(all.isEmpty || all.hasSuffix("abc"))
      #expect(try await peer.receiveAll() == "")
    }
  }

  @Test("a client that leaves ends its request to the origin")
  func clientLeaves() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(get)
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
      _ = try await client.receive(through: "a\r\n")
      client.end()
      // Only sending shows that the peer is gone.
      let piece = "ffff\r\n" + String(repeating: "a", count: 65535) + "\r\n"
      var sent = 0
      while sent < 1000, await peer.send(Array(piece.utf8), milliseconds: 1000) == piece.utf8.count {
        sent += 1
      }
      #expect(sent < 1000)
    }
  }

  @Test("connections beyond the limit are told so")
  func connectionLimit() async throws {
    try await withProxy(configure: { $0.connectionLimit = 1 }) { proxy in
      let (first, peer, _) = try await proxy.open(get)
      let second = try proxy.connect()
      #expect(try await second.receiveAll().hasPrefix("HTTP/1.1 503 "))
      try await peer.answerNoContent(to: first)
    }
  }
}
