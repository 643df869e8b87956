import HTTPCaching
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPCacheProxy

@Suite("The handler of lenient responses on a connection", .timeLimit(.minutes(10)))
struct LenientResponseHandlerTests {
  private let channel = EmbeddedChannel()

  init() throws {
    try channel.pipeline.syncOperations.addHTTPClientHandlers()
    try LenientResponseHandler.add(to: channel.pipeline.syncOperations)
  }

  private func ask(_ method: HTTPMethod, _ fields: HTTPHeaders = [:]) throws {
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: "/", headers: fields)
    try channel.writeOutbound(HTTPClientRequestPart.head(head))
  }

  private func send(_ text: String) throws {
    try channel.writeOutbound(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: text))))
  }

  private func endRequest() throws { try channel.writeOutbound(HTTPClientRequestPart.end(nil)) }

  /// The parts of responses that some bytes bring.
  private func parts(of bytes: String) throws -> [String] {
    try channel.writeInbound(ByteBuffer(string: bytes))
    var parts: [String] = []
    while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
      switch part {
      case .head(let head): parts.append("\(head.status.code) \(head.headers["X-A"])")
      case .body(let bytes): parts.append(String(buffer: bytes))
      case .end: parts.append("end")
      }
    }
    return parts
  }

  @Test(
    "a response may end before its request's body has been sent: the next head is the next request (RFC 9112 §9.3)",
    arguments: [[:], ["Content-Length": "8"], ["Transfer-Encoding": "chunked"]] as [HTTPHeaders])
  func early(_ fields: HTTPHeaders) throws {
    try ask(.POST, fields)
    if !fields.isEmpty { try send("GET ") }
    let answer = "HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\n\r\n"
    #expect(try parts(of: answer + "ok") == ["200 [\"one two\"]", "ok", "end"])
    if !fields.isEmpty { try send("/ HT") }
    try endRequest()
    try ask(.HEAD)
    try endRequest()
    #expect(try parts(of: answer) == ["200 [\"one two\"]", "end"])
    try ask(.GET)
    try endRequest()
    #expect(try parts(of: answer + "ok") == ["200 [\"one two\"]", "ok", "end"])
    _ = try? channel.finish()
  }

  @Test("64 interim responses are taken, one more is an error")
  func interimLimit() throws {
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n"
    for _ in 0..<2 {
      try ask(.GET)
      try endRequest()
      let heads = String(repeating: interim, count: 64)
      let parts = try parts(of: heads + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      #expect(parts.suffix(2) == ["200 []", "end"])
    }
    try ask(.GET)
    try endRequest()
    #expect(throws: UpstreamError.self) { try parts(of: String(repeating: interim, count: 65)) }
    _ = try? channel.finish()
  }

  @Test("an interim response does not end the request (RFC 9110 §15.2)")
  func interim() throws {
    try ask(.HEAD)
    try endRequest()
    #expect(try parts(of: "HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n").isEmpty)
    #expect(try parts(of: "HTTP/1.1 200 OK\nContent-Length: 2\n\n") == ["200 []", "end"])
    _ = try? channel.finish()
  }

  @Test(
    "control characters of a value are spaces; in a name they make the head invalid (RFC 9110 §5.1, §5.5)",
    arguments: [
      ("X-A: a\u{1}b\r\nContent-Length: 2", true), ("X-A: a\r\n\tb\r\nContent-Length: 2", true),
      ("X-A: a\r\n \u{B}b:\u{1}\r\nContent-Length: 2", true),
      ("Transfer-Encoding\u{B}: chunked", false), ("X-A: a\r\n\u{1}Set-Cookie: a=b", false),
      ("X-A: a\r\n\u{B}b", false), ("X\u{7F}-A: a", false), ("\u{C}X-A: a", false),
    ])
  func controls(_ fields: String, _ isTaken: Bool) throws {
    try ask(.GET)
    try endRequest()
    let body = isTaken ? "ok" : "2\r\nok\r\n0\r\n\r\n"
    let parts = try? parts(of: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)")
    #expect((parts?.isEmpty == false) == isTaken, "\(parts ?? [])")
    _ = try? channel.finish()
  }

  @Test("escapes of Location begin behind the host of a URL, not of one in its query (RFC 3986 §2.5)")
  func location() {
    for (given, expected) in [
      ("http://h\u{e9}/\u{e9}", "http://h\u{e9}/%E9"), ("//h\u{e9}/\u{e9}", "//h\u{e9}/%E9"),
      ("/\u{e9}?next=http://h/x", "/%E9?next=http://h/x"), ("\u{e9}://h", "%E9://h"),
    ] {
      let octets = { (text: String) in text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
      var fields = HTTPFields()
      fields.append(HTTPField(name: .location, lenientValue: octets(given)))
      let escaped = LenientHead.escapedLocation(fields)[fields: .location].first
      #expect(escaped?.withUnsafeBytesOfValue { Array($0) } == octets(expected), "\(given)")
    }
  }
}
