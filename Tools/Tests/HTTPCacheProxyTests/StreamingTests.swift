import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Bodies as they stream", .timeLimit(.minutes(10))) struct StreamingTests {
  @Test("a chunked request passes piece by piece, with its trailers")
  func chunkedRequest() async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3;x=y\r\nabc\r\n")
      #expect(field("Transfer-Encoding", in: head) == "chunked")
      #expect(field("Trailer", in: head) == "X-Sum")
      // The first piece is there before the second one was sent.
      #expect(try await peer.receive(through: "abc\r\n") == "3\r\nabc\r\n")
      client.send("2\r\nde\r\n0\r\nX-Sum: 5\r\nContent-Length: 3\r\n\r\n")
      #expect(try await peer.receive(through: "\r\n\r\n") == "2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n")
      try await peer.answerNoContent(to: client)
    }
  }

  @Test("a request with a length keeps it")
  func lengthRequest() async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open(
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc")
      #expect(field("Content-Length", in: head) == "6")
      #expect(field("Transfer-Encoding", in: head) == nil)
      #expect(try await peer.receive(count: 3) == "abc")
      client.send("def")
      #expect(try await peer.receive(count: 3) == "def")
      try await peer.answerNoContent(to: client)
    }
  }

  @Test("a POST without content says so to the origin (RFC 9110 §8.6)")
  func emptyPost() async throws {
    try await withProxy { proxy in
      let (request, _) = try await proxy.exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
      #expect(field("Content-Length", in: request) == "0")
    }
  }

  @Test("QUERY carries its content (RFC 10008)")
  func query() async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open(
        "QUERY /q HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc")
      #expect(head.hasPrefix("QUERY /q HTTP/1.1\r\n"))
      #expect(try await peer.receive(count: 3) == "abc")
      try await peer.answerNoContent(to: client)
    }
  }

  @Test("the expectation is passed on, and the body waits for the origin's 100 (RFC 9110 §10.1.1)")
  func expectContinue() async throws {
    try await withProxy(upstream: .with { $0.continueTimeout = .seconds(60) }) { proxy in
      let (client, peer, head) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
      #expect(field("Expect", in: head) == "100-continue")
      peer.send("HTTP/1.1 100 Continue\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 100 Continue\r\n"))
      client.send("abc")
      #expect(try await peer.receive(count: 3) == "abc")
      try await peer.answerNoContent(to: client)
    }
  }

  @Test(
    "the expectation of a request without content is not passed on, and its client gets no 100 (RFC 9110 §10.1.1)",
    arguments: ["GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nContent-Length: 0\r\n"])
  func expectWithoutContent(start: String) async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open("\(start)Host: h\r\nExpect: 100-continue\r\n\r\n")
      #expect(field("Expect", in: head) == nil)
      peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 204 "))
    }
  }

  @Test("a client is told to go on, once, though the origin never says so")
  func silentOrigin() async throws {
    try await withProxy(upstream: .with { $0.continueTimeout = .milliseconds(20) }) { proxy in
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
      #expect(try await client.receiveHead() == "HTTP/1.1 100 Continue\r\n\r\n")
      client.send("abc")
      #expect(try await peer.receive(count: 3) == "abc")
      peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 204 "))
    }
  }

  @Test(
    "a final answer instead of 100 is passed on, and the connection ends, for its body may or may not come")
  func refusedExpectation() async throws {
    try await withProxy(upstream: .with { $0.continueTimeout = .seconds(60) }) { proxy in
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
      peer.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
      let all = try await client.receiveAll()
      #expect(all.hasPrefix("HTTP/1.1 417 "))
      #expect(field("Connection", in: all) == "close")
      #expect(try await peer.receiveAll() == "")
    }
  }

  @Test("an early answer reaches a client that is still sending")
  func earlyAnswer() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nabc")
      peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
      let head = try await client.receiveHead()
      #expect(head.hasPrefix("HTTP/1.1 413 "))
      #expect(try await client.receiveAll() == "big")
    }
  }

  @Test("a request whose client leaves within its body never looks whole to the origin")
  func abortedRequest() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
      #expect(try await peer.receive(through: "abc\r\n") == "3\r\nabc\r\n")
      client.end()
      #expect(!(try await peer.receiveAll()).contains("0\r\n"))
    }
  }

  @Test("a chunked response passes piece by piece, with its trailers")
  func chunkedResponse() async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open(
        "GET / HTTP/1.1\r\nHost: h\r\nTE: trailers, deflate;q=0.5\r\nConnection: TE\r\n\r\n")
      #expect(field("TE", in: head) == "trailers")
      #expect(field("Connection", in: head) == "TE")
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n")
      #expect(field("Trailer", in: try await client.receiveHead()) == "X-Sum")
      #expect(try await client.receive(through: "abc\r\n") == "3\r\nabc\r\n")
      peer.send("0\r\nX-Sum: 3\r\nTransfer-Encoding: x\r\n\r\n")
      #expect(try await client.receive(through: "\r\n\r\n") == "0\r\nX-Sum: 3\r\n\r\n")
    }
  }

  @Test("a body that ends with its connection is chunked for the client")
  func untilClose() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.0 200 OK\r\n\r\nabc")
      peer.finish()
      _ = try await client.receiveHead()
      #expect(try await client.receive(through: "0\r\n\r\n") == "3\r\nabc\r\n0\r\n\r\n")
    }
  }

  @Test("a client that does not read holds the origin up, in little memory")
  func backpressureDown() async throws {
    try await withProxy { proxy in
      let client = try RawPeer.connect(proxy.port, receiveBuffer: 16 << 10)
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      let (peer, _) = try await proxy.origin.acceptRequest()
      let size = 64 << 20
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      let sent = await peer.send([UInt8](repeating: 7, count: size), milliseconds: 300)
      // The proxy cannot limit the system's buffers; all other bytes have to wait.
      #expect(sent < 24 << 20)
      _ = try await client.receiveHead()
      async let counted = client.count(upTo: size)
      #expect(await peer.send([UInt8](repeating: 7, count: size - sent)) == size - sent)
      #expect(try await counted == size)
    }
  }

  @Test("an origin that does not read holds the client up")
  func backpressureUp() async throws {
    try await withProxy { proxy in
      let client = try proxy.connect()
      let size = 64 << 20
      client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\n\r\n")
      let (peer, _) = try await proxy.origin.acceptRequest()
      let sent = await client.send([UInt8](repeating: 7, count: size), milliseconds: 300)
      #expect(sent < 24 << 20)
      async let counted = peer.count(upTo: size)
      #expect(await client.send([UInt8](repeating: 7, count: size - sent)) == size - sent)
      #expect(try await counted == size)
    }
  }

  @Test("a large body arrives as it was sent, in pieces of all sizes")
  func integrity() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      var bytes: [UInt8] = []
      var sum: UInt64 = 0
      var state: UInt64 = 1
      for _ in 0..<(300 << 10) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(UInt8(state >> 56))
        sum = sum &* 31 &+ (state >> 56)
      }
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      async let done: Void = Task.detached {
        var start = 0
        var size = 1
        while start < bytes.count {
          let end = min(bytes.count, start + size)
          await peer.send(
            Array("\(String(end - start, radix: 16))\r\n".utf8) + bytes[start..<end] + Array("\r\n".utf8))
          start = end
          size = size * 7 % 65_537 + 1
        }
        peer.send("0\r\n\r\n")
      }.value
      _ = try await client.receiveHead()
      var decoder = ChunkedDecoder(limits: MessageLimits(), form: .request)
      var received: UInt64 = 0
      var count = 0
      var buffer = ByteBuffer()
      for scalar in try await client.receiveAll().unicodeScalars {
        buffer.writeInteger(UInt8(truncatingIfNeeded: scalar.value))
      }
      while let piece = try decoder.next(&buffer) {
        for byte in piece.readableBytesView { received = received &* 31 &+ UInt64(byte) }
        count += piece.readableBytes
      }
      await done
      #expect(count == bytes.count)
      #expect(received == sum)
    }
  }
}
