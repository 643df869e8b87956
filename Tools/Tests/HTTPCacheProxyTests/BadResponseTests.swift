import HTTPCaching
import HTTPTypes
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("What an origin must not send", .timeLimit(.minutes(10))) struct BadResponseTests {
  static let heads = [
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nab",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: foo\r\n\r\nab",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, foo\r\n\r\nab",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
    "HTTP/1.1 2x0 OK\r\n\r\n",
    "HTTP/1.1 099 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/2.0 200 OK\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "SSH-2.0-OpenSSH\r\n",
    "HTTP/1.1 200 OK\r\nContent-",
    "",
  ]

  // holds 9211-2-1
  @Test("is answered with 502, and the client's connection goes on", arguments: heads)
  func badHead(_ response: String) async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send(response)
      peer.finish()
      let head = try await client.receiveHead()
      #expect(head.hasPrefix("HTTP/1.1 502 "))
      // Without a single byte the origin counts as unreachable (RFC 9111 §4.2.4).
      let message = response.isEmpty ? "cannot be reached" : "breaks the protocol"
      #expect(field("Cache-Status", in: head) == nil)
      let text = try await client.receive(count: Int(field("Content-Length", in: head) ?? "") ?? 0)
      #expect(text.contains(message))
      client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      let (second, request) = try await proxy.origin.acceptRequest()
      #expect(request.hasPrefix("GET /2 "))
      try await second.answerNoContent(to: client)
    }
  }

  static let bodies = [
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nx\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: a\r\n y\r\n\r\n",
  ]

  @Test("a body that breaks off is cut off for the client as well, never ended", arguments: bodies)
  func brokenBody(_ response: String) async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send(response)
      peer.finish()
      let all = try await client.receiveAll()
      #expect(all.hasPrefix("HTTP/1.1 200 "))
      #expect(!all.hasSuffix("0\r\n\r\n"))
    }
  }

  @Test("a body that breaks off is an error of kind protocol", arguments: bodies)
  func brokenBodyAtUpstream(_ response: String) async throws {
    let origin = try RawOrigin()
    let upstream = try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton)
    async let answer = upstream.send(UpstreamRequest(head: request(origin)))
    let (peer, _) = try await origin.acceptRequest()
    peer.send(response)
    peer.finish()
    let body = try await answer.body
    let error = await #expect(throws: UpstreamError.self) { try await body.collect() }
    #expect(error?.kind == .protocol)
    #expect(upstream.connectionCounts.open == 0)
  }

  @Test("bytes beyond Content-Length reach no client, and the connection is not used again")
  func surplus() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012345678901234567890123456789012345")
      _ = try await client.receiveHead()
      #expect(try await client.receive(count: 10) == "0123456789")
      try await proxy.expectAnswer(to: client, "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await peer.receiveAll() == "")
    }
  }

  @Test("an unknown transfer coding is read to the end and its bytes passed on (RFC 9112 §6.3)")
  func unknownCoding() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\nbytes")
      peer.finish()
      let head = try await client.receiveHead()
      #expect(field("Transfer-Encoding", in: head) == "chunked")
      #expect(try await client.receive(through: "0\r\n\r\n") == "5\r\nbytes\r\n0\r\n\r\n")
    }
  }

  @Test("white space before a colon is taken away (RFC 9112 §5.1)")
  func blankBeforeColon() async throws {
    try await withProxy { proxy in
      let (_, response) = try await proxy.exchange(
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Old \t: a\r\nContent-Length: 0\r\n\r\n")
      #expect(response.contains("\r\nX-Old: a\r\n"))
    }
  }

  @Test("endless interim responses end the exchange")
  func endlessInterim() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send(String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100))
      #expect(try await client.receive(through: "HTTP/1.1 502 ").ranges(of: " 102 ").count == 64)
    }
  }

  private func request(_ origin: RawOrigin) -> HTTPRequest {
    HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/")
  }
}
