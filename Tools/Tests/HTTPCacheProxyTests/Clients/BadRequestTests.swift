import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// Swift takes CRLF for one character; bytes are compared as scalars here.
@Suite("What a client must not send", .timeLimit(.minutes(10))) struct BadRequestTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let request: String
    var status = 400
    var testDescription: String { name }
  }

  static let cases = [
    Case(
      name: "two different lengths",
      request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    Case(
      name: "two lengths in one field",
      request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 2\r\n\r\nab"),
    Case(name: "a signed length", request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\na"),
    Case(
      name: "a length beyond all measure",
      request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\na"),
    Case(name: "an empty length", request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n"),
    Case(
      name: "length and coding",
      request:
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    Case(
      name: "coding and length",
      request:
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
    Case(
      name: "chunked before another coding",
      request: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
    Case(
      name: "a coding with a vertical tab",
      request: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \u{0B}chunked\r\n\r\n0\r\n\r\n"),
    Case(
      name: "an unknown coding",
      request: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", status: 501),
    Case(
      name: "a coding in HTTP/1.0",
      request: "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    Case(name: "a folded line", request: "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"),
    Case(name: "a folded line with a tab", request: "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n"),
    Case(name: "white space before the first field", request: "GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
    Case(name: "NUL in a value", request: "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n"),
    Case(name: "CR in a value", request: "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n"),
    Case(name: "NUL in a name", request: "GET / HTTP/1.1\r\nHost: h\r\nX\u{0}: a\r\n\r\n"),
    Case(name: "a space before the colon", request: "GET / HTTP/1.1\r\nHost: h\r\nX : a\r\n\r\n"),
    Case(name: "no colon", request: "GET / HTTP/1.1\r\nHost: h\r\nnonsense\r\n\r\n"),
    Case(name: "an empty name", request: "GET / HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n"),
    Case(name: "LF without CR after a field", request: "GET / HTTP/1.1\r\nHost: h\nX: a\r\n\r\n"),
    Case(name: "LF without CR after the request line", request: "GET / HTTP/1.1\nHost: h\r\n\r\n"),
    Case(name: "LF without CR as the end", request: "GET / HTTP/1.1\r\nHost: h\r\n\n"),
    Case(name: "no Host", request: "GET / HTTP/1.1\r\n\r\n"),
    Case(name: "two Hosts", request: "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"),
    Case(name: "two Hosts in HTTP/1.0", request: "GET / HTTP/1.0\r\nHost: h\r\nHost: i\r\n\r\n"),
    Case(name: "an empty Host", request: "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
    Case(name: "a Host with a user", request: "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"),
    Case(name: "a Host with a path", request: "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    Case(
      name: "a Host that contradicts the target", request: "CONNECT a:443 HTTP/1.1\r\nHost: b:443\r\n\r\n"),
    Case(
      name: "a port that contradicts the target", request: "CONNECT a:443 HTTP/1.1\r\nHost: a:81\r\n\r\n"),
    Case(name: "a whole URI and an invalid Host", request: "GET http://a/ HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    Case(name: "a target with a user", request: "GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case(name: "a target with a fragment", request: "GET /#a HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(name: "a target beyond ASCII", request: "GET /\u{E9} HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(name: "a target with a control", request: "GET /\u{1} HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(name: "* for a GET", request: "GET * HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(name: "a target that is no path", request: "GET a HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(name: "two spaces in the request line", request: "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(name: "no version", request: "GET /\r\nHost: h\r\n\r\n"),
    Case(name: "a version in lower case", request: "GET / http/1.1\r\nHost: h\r\n\r\n"),
    Case(name: "HTTP/2", request: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
    Case(name: "a TLS hello", request: "\u{16}\u{3}\u{1}\u{0}\u{5}abcde"),
    Case(name: "a method with a bracket", request: "G(T / HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(
      name: "a long target",
      request: "GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: h\r\n\r\n", status: 414),
    Case(
      name: "a large field",
      request: "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "a", count: 70_000))\r\n\r\n", status: 431
    ),
    Case(
      name: "many fields",
      request: "GET / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "X: a\r\n", count: 300))\r\n", status: 431),
    Case(name: "TRACE with a body", request: "TRACE / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na"),
    Case(
      name: "Max-Forwards that is no number",
      request: "OPTIONS / HTTP/1.1\r\nHost: h\r\nMax-Forwards: x\r\n\r\n"),
    Case(
      name: "Max-Forwards with a sign",
      request: "OPTIONS / HTTP/1.1\r\nHost: h\r\nMax-Forwards: +1\r\n\r\n"),
  ]

  @Test("is refused, closes the connection, and never reaches the origin", arguments: cases)
  func refused(_ testCase: Case) async throws {
    try await withProxy { proxy in
      let client = try proxy.connect()
      // If the connection stayed open, the rest would be read as a second request.
      client.send(testCase.request + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
      let all = try await client.receiveAll()
      #expect(all.hasPrefix("HTTP/1.1 \(testCase.status) "))
      #expect(all.ranges(of: "HTTP/1.1 ").count == 1)
      #expect(field("Connection", in: all) == "close")
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  static let chunks = [
    "x\r\n", "-1\r\n", "0x1\r\na\r\n", "1\na\r\n0\r\n\r\n", "1\r\nab\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n",
    "ffffffffffffffff\r\n", "1;\n\r\na\r\n0\r\n\r\n", " 1\r\na\r\n0\r\n\r\n", "0\r\nX : a\r\n\r\n",
    "0\r\n a: b\r\n\r\n",
    "0\r\nX: a\nY: b\r\n\r\n",
  ]

  @Test("invalid chunks end the exchange with 400", arguments: chunks)
  func badChunks(_ chunks: String) async throws {
    try await withProxy { proxy in
      let client = try proxy.connect(
        sending: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")
      let all = try await client.receiveAll()
      #expect(all.hasPrefix("HTTP/1.1 400 "))
      // The origin sees at most an unfinished request.
      if let peer = try await proxy.origin.acceptIfAny() {
        #expect(!(try await peer.receiveAll()).hasSuffix("0\r\n\r\n"))
      }
    }
  }

  @Test("equal lengths count as one (RFC 9110 §8.6), and an empty line before a request is forgiven")
  func tolerated() async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open(
        "\r\n\r\nPOST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2, 2\r\n\r\nab")
      #expect(field("Content-Length", in: head) == "2")
      #expect(head.ranges(of: "Content-Length").count == 1)
      #expect(try await peer.receive(count: 2) == "ab")
      try await peer.answerNoContent(to: client)
    }
  }

  @Test("a head that does not come in time is answered with 408")
  func slowHead() async throws {
    try await withProxy(configure: { $0.headTimeout = .milliseconds(50) }) { proxy in
      let client = try proxy.connect(sending: "GET / HTTP/1.1\r\nHo")
      #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 408 "))
    }
  }

  @Test("a connection without a request is closed without an answer")
  func idle() async throws {
    try await withProxy(configure: { $0.idleTimeout = .milliseconds(50) }) { proxy in
      let client = try proxy.connect()
      #expect(try await client.receiveAll() == "")
    }
  }
}
