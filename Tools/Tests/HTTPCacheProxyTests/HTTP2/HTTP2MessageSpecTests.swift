import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// The cases of h2spec, its parts for messages and HPACK.
@Suite("HTTP/2, case by case: messages (RFC 9113 §8) and HPACK (RFC 7541)", .timeLimit(.minutes(10)))
struct HTTP2MessageSpecTests {
  private typealias Case = HTTP2Case
  private static let usual = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "h")]

  /// A GET without one of its fields, with others in its place.
  private static func changed(_ name: String, _ fields: [(String, String)] = []) -> HTTP2Case.Frame {
    Case.headers(usual.filter { $0.0 != name } + fields)
  }

  static let messages: [HTTP2Case] = [
    Case("8.1: GET", [Case.get()], .answers(1)),
    Case("8.1: HEAD", [Case.get(method: "HEAD")], .answers(1)),
    Case("8.1: POST", [Case.post(), Case.data("a"), Case.data("b", flags: 1)], .answers(1)),
    Case("8.1: trailers", [Case.post(), Case.data("a"), Case.headers([("x", "y")])], .answers(1)),
    Case(
      "8.1: a second HEADERS that does not end the stream",
      [Case.post(), Case.data("a"), Case.headers([("x", "y")], flags: 4)], .malformed),
    Case("8.2: a name with an upper-case letter", [Case.get(1, [("X-Test", "a")])], .malformed),
    Case(
      "8.2.2: a field for one connection", [Case.get(1, [("connection", "keep-alive")])],
      .malformed),
    Case(
      "8.2.2: TE other than trailers", [Case.get(1, [("te", "trailers, deflate")])], .malformed),
    Case("8.3: an unknown pseudo-field", [Case.headers([(":test", "ok")] + usual)], .malformed),
    Case(
      "8.3: a pseudo-field of responses", [Case.headers(usual + [(":status", "200")])],
      .malformed),
    Case(
      "8.3: a pseudo-field in trailers", [Case.post(), Case.data("a"), Case.headers([(":method", "GET")])],
      .malformed),
    Case(
      "8.3: a pseudo-field after another field", [changed(":path", [("x", "y"), (":path", "/")])],
      .malformed),
    Case("8.3.1: an empty :path", [changed(":path", [(":path", "")])], .malformed),
    Case("8.3.1: no :method", [changed(":method")], .malformed),
    Case("8.3.1: no :scheme", [changed(":scheme")], .malformed),
    Case("8.3.1: no :path", [changed(":path")], .malformed),
    Case("8.3.1: :method twice", [Case.headers([(":method", "GET")] + usual)], .malformed),
    Case("8.3.1: :scheme twice", [Case.headers([(":scheme", "http")] + usual)], .malformed),
    Case("8.3.1: :path twice", [Case.headers([(":path", "/")] + usual)], .malformed),
    Case(
      "8.1.1: Content-Length other than that of the DATA frame",
      [Case.post(1, [("content-length", "1")]), Case.data("ab", flags: 1)], .malformed),
    Case(
      "8.1.1: Content-Length other than that of several DATA frames",
      [Case.post(1, [("content-length", "1")]), Case.data("a"), Case.data("b", flags: 1)],
      .malformed),
    Case(
      "8.1.1: Content-Length twice, with different values",
      [Case.post(1, [("content-length", "1"), ("content-length", "2")])], .malformed),
    Case(
      "8.1.1: Content-Length that is no number", [Case.get(1, [("content-length", "x")])], .malformed),
    Case("8.2.1: a line feed in a value", [Case.get(1, [("x-test", "a\nb")])], .malformed),
  ]

  /// `:method: GET`, `:scheme: http`, `:path: /` of the static table, and `:authority: h`.
  private static let indexed: [UInt8] = [0x82, 0x86, 0x84, 0x01, 0x01, 0x68]

  private static func compressed(_ block: [UInt8]) -> [HTTP2Case.Frame] {
    [Case.frame(HTTP2Peer.headers, 5, 1, block)]
  }

  static let compression: [HTTP2Case] = [
    Case("HPACK 6.1: indexed fields", compressed(indexed), .answers(1)),
    Case(
      "HPACK 6.2.1: with indexing, a name of the table", compressed(indexed + [0x7A, 0x01, 0x61]), .answers(1)
    ),
    Case(
      "HPACK 6.2.1: with indexing, a new name, then by its index",
      compressed(indexed + [0x40, 1, 0x61, 1, 0x62, 0xBE]), .answers(1)),
    Case("HPACK 6.2.2: without indexing", compressed(indexed + [0x00, 1, 0x61, 1, 0x62]), .answers(1)),
    Case("HPACK 6.2.3: never indexed", compressed(indexed + [0x10, 1, 0x61, 1, 0x62]), .answers(1)),
    Case("HPACK 6.3: changes of the table's size", compressed([0x20, 0x3F, 0x61] + indexed), .answers(1)),
    Case("HPACK 5.2: Huffman code", compressed(indexed + [0x00, 1, 0x61, 0x81, 0x1F]), .answers(1)),
    Case(
      "HPACK 2.3.3: an index beyond the tables", compressed(indexed + [0xC6]), .connectionError(.compression)),
    Case("HPACK 6.1: index 0", compressed(indexed + [0x80]), .connectionError(.compression)),
    Case(
      "HPACK 4.2: a change of the table's size at the end of a block", compressed(indexed + [0x21]),
      .connectionError(.compression)),
    Case(
      "HPACK 6.3: a table larger than allowed", compressed([0x3F, 0xE1, 0xFF, 0x03] + indexed),
      .connectionError(.compression)),
    Case(
      "HPACK 5.2: Huffman padding of more than 7 bits",
      compressed(indexed + [0x00, 1, 0x61, 0x82, 0x1F, 0xFF]), .connectionError(.compression)),
    Case(
      "HPACK 5.2: Huffman padding that is not of EOS", compressed(indexed + [0x00, 1, 0x61, 0x81, 0x18]),
      .connectionError(.compression)),
    Case(
      "HPACK 5.2: EOS within Huffman code",
      compressed(indexed + [0x00, 1, 0x61, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]), .connectionError(.compression)),
  ]

  @Test(arguments: messages) func requests(_ one: HTTP2Case) async throws { try await one.check() }
  @Test(arguments: compression) func hpack(_ one: HTTP2Case) async throws { try await one.check() }

  @Test("8.1.1: malformed requests end their streams; another stream of the connection gets its answer")
  func neighbour() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2("/good")
      client.request(3, "/", [("Upper", "a")])
      client.request(5, "/", [("connection", "close")])
      client.request(7, "")
      client.request(9, "/", [(":late", "a")])
      client.request(11, "/", method: "POST", [("content-length", "1")], ends: false)
      client.send(HTTP2Peer.data, flags: 1, 11, [1, 2, 3])
      for stream: UInt32 in [3, 5, 7, 9, 11] { #expect(try await client.response(stream).reset == 1) }
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
      let good = try await client.response(1)
      #expect(good.text == "good" && good.reset == nil)
    }
  }
}
