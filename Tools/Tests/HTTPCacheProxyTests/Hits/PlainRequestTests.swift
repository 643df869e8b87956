import HTTPTypes
import NIOHPACK
import Testing

@testable import HTTPCacheProxy

@Suite("Plain requests: what may be answered without parsing", .timeLimit(.minutes(10)))
struct PlainRequestTests {
  private func find(
    _ text: String, limits: MessageLimits = MessageLimits(), isTrusted: Bool = false
  ) -> (length: Int, key: [UInt8])? {
    var plain = PlainRequest(limits: limits)
    let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    return bytes.withUnsafeBytes { plain.find(in: $0, isTrusted: isTrusted) }.map { ($0, plain.key) }
  }

  private func key(_ fields: [(String, String)], isTrusted: Bool = false) -> [UInt8]? {
    var plain = PlainRequest(limits: MessageLimits())
    let isPlain = plain.find(in: HPACKHeaders(fields), isTrusted: isTrusted)
    return isPlain ? plain.key : nil
  }

  private static let start = "GET /a HTTP/1.1\r\nHost: h\r\n"
  private static let pseudo = [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")]

  @Test("a HEAD is plain, and has another key than a GET")
  func heads() throws {
    let get = try #require(find(Self.start + "\r\n"))
    let head = try #require(find("HEAD" + Self.start.dropFirst(3) + "\r\n"))
    #expect(head.length == get.length + 1 && head.key != get.key)
    let stream = try #require(key([(":method", "HEAD")] + Self.pseudo.dropFirst()))
    #expect(stream != key(Self.pseudo))
  }

  @Test("a URL is plain, and has another key than its path")
  func urls() throws {
    let path = try #require(find(Self.start + "\r\n")).key
    let url = try #require(find("GET http://h" + Self.start.dropFirst(4) + "\r\n")).key
    #expect(url != path)
    #expect(url != find("GET http://i" + Self.start.dropFirst(4) + "\r\n")?.key)
  }

  @Test("fields for one connection that change nothing are not part of the key")
  func connectionFields() throws {
    let plain = try #require(find(Self.start + "\r\n")).key
    for field in [
      "Keep-Alive: 600", "Proxy-Connection: keep-alive", "Connection: TE", "connection: te, Keep-Alive",
    ] {
      #expect(find(Self.start + field + "\r\n\r\n")?.key == plain)
    }
  }

  @Test(
    "what tells of the client is part of the key for a trusted proxy alone",
    arguments: [
      ("X-Forwarded-Host", "a"), ("x-forwarded-proto", "https"), ("Forwarded", "host=a"),
      ("X-Forwarded-Port", "1"),
    ])
  func clientFields(name: String, value: String) throws {
    let text = Self.start + "\(name): \(value)\r\n\r\n"
    #expect(try #require(find(text)).key == find(Self.start + "\r\n")?.key)
    let trusted = try #require(find(text, isTrusted: true)).key
    #expect(trusted != find(Self.start + "\r\n", isTrusted: true)?.key)
    #expect(trusted != find(Self.start + "\(name): other\r\n\r\n", isTrusted: true)?.key)
    let stream = Self.pseudo + [(name.lowercased(), value)]
    #expect(key(stream) == key(Self.pseudo))
    #expect(key(stream, isTrusted: true) != key(Self.pseudo, isTrusted: true))
  }

  @Test("a value over HTTP/2 with a space at its begin or end is left to the slow path")
  func spaces() {
    #expect(key(Self.pseudo + [("user-agent", "x y")]) != nil)
    for value in [" x", "x "] { #expect(key(Self.pseudo + [("user-agent", value)]) == nil) }
  }

  @Test("a GET with known fields is plain; bytes after its head are not part of it")
  func plain() throws {
    let head =
      Self.start + "User-Agent: x\r\nAccept: */*\r\naccept-encoding: gzip\r\nConnection: Keep-Alive\r\n"
      + "Sec-Fetch-Mode: cors\r\nReferer: http://h/\r\nX-Request-ID: 1\r\nTraceparent: 00-1-2-01\r\n"
      + "tracestate: a=b\r\nBaggage: a=b\r\nb3: 1\r\nX-Correlation-ID: 1\r\nX-Requested-With: x\r\n"
      + "X-Forwarded-For: 192.0.2.1\r\nX-Real-IP: 192.0.2.1\r\nX-Amzn-Trace-Id: 1\r\n"
      + "X-Cloud-Trace-Context: 1\r\nSave-Data: on\r\n\r\n"
    #expect(find(head)?.length == head.utf8.count)
    #expect(find(head + "GET /b")?.length == head.utf8.count)
  }

  @Test("every beginning of a head is not whole")
  func beginnings() {
    let head = Self.start + "Accept: */*\r\n\r\n"
    for length in 0..<head.count { #expect(find(String(head.prefix(length))) == nil) }
  }

  @Test(
    "heads with other control characters, or a line without a colon, are not plain",
    arguments: [
      "User-Agent: a\u{0}b\r\n", "User-Agent: a\rb\r\n", "User-Agent: a\n", "Accept\rEncoding: gzip\r\n",
      "User-Agent\r\n",
    ])
  func others(field: String) {
    #expect(find(Self.start + field + "\r\n") == nil)
  }

  @Test(
    "other request lines are not plain",
    arguments: [
      "POST /a HTTP/1.1", "HEAD * HTTP/1.1", "GET /a HTTP/1.0", "GET /a HTTP/2.0", "GET https://h/a HTTP/1.1",
      "get /a HTTP/1.1", "GET  /a HTTP/1.1", "GET HTTP://h/a HTTP/1.1", "GET http HTTP/1.1",
      "GET /a\tHTTP/1.1", "\r\nGET /a HTTP/1.1",
    ])
  func requestLines(line: String) {
    #expect(find(line + "\r\nHost: hhhhhhhhhhhhhh\r\n\r\n") == nil)
  }

  @Test("any other field is part of the key, name and value; what is no field is not overlooked")
  func unknownFields() throws {
    let fields = [
      "", "X-Unknown: a\r\n", "X-Unknown: b\r\n", "X-Other: a\r\n", "x-unknown: a\r\n", " folded: a\r\n",
      "User-Agent : x\r\n", "X-Unknown: a\r\nX-Other: a\r\n", "Range: bytes=0-1\r\n", "Range: bytes=0-2\r\n",
      "If-None-Match: \"a\"\r\n", "If-Modified-Since: x\r\n", "Cache-Control: no-cache\r\n",
      "Pragma: no-cache\r\n", "If-Range: x\r\n", "Authorization: Basic x\r\n", "Authorization: Basic y\r\n",
      "If-Match: \"a\"\r\n", "If-Unmodified-Since: Tue, 14 Nov 2023 22:13:20 GMT\r\n",
      "Proxy-Authorization: Basic x\r\n", "Connection: close\r\n", "Connection: keep-alive, x\r\n",
      "Connection:keep-alive\r\n", "Content-Length: 0\r\n", "Content-Length: 1\r\n",
      "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "Upgrade: websocket\r\n",
      "X_Request_ID: a\r\n", "TE: trailers\r\n", "TE: gzip\r\n", "Connection: TE, x\r\n", "Trailer: a\r\n",
      "X_Forwarded_Host: a\r\n", "X.Forwarded.Host: a\r\n",
    ]
    let keys = try fields.map { try #require(find(Self.start + $0 + "\r\n")).key }
    #expect(Set(keys).count == fields.count)
  }

  @Test("whether there is a cookie is part of the key, its value is not")
  func cookies() throws {
    let keys = try ["", "Cookie: a=b\r\n", "cookie: c=d\r\n"].map {
      try #require(find(Self.start + $0 + "\r\n")).key
    }
    #expect(keys[0] != keys[1] && keys[1] == keys[2])
    let streams = try [[], [("cookie", "a=b")], [("cookie", "c=d")]].map {
      try #require(key(Self.pseudo + $0))
    }
    #expect(streams[0] != streams[1] && streams[1] == streams[2])
  }

  @Test("a response is prepared if Vary names fields of the key alone")
  func vary() throws {
    for name in ["Accept", "Accept-Encoding", "X-Unknown", "Range", "Authorization"] {
      #expect(FieldNameTable.isKeyed(try #require(HTTPField.Name(name))))
    }
    for name in [
      "User-Agent", "Cookie", "X-Forwarded-For", "X-Forwarded-Host", "True-Client-IP", "Forwarded",
    ] {
      #expect(!FieldNameTable.isKeyed(try #require(HTTPField.Name(name))))
    }
  }

  @Test("the limits of heads hold")
  func limits() {
    let head = Self.start + "Accept: */*\r\n\r\n"
    #expect(find(head, limits: MessageLimits(headBytes: head.utf8.count)) != nil)
    #expect(find(head, limits: MessageLimits(headBytes: head.utf8.count - 1)) == nil)
    #expect(find(head, limits: MessageLimits(fieldCount: 1)) == nil)
    #expect(find(head, limits: MessageLimits(targetBytes: 1)) == nil)
  }

  @Test("requests with different targets, hosts or selecting fields have different keys")
  func keys() throws {
    let heads = [
      "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "GET /b HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: i\r\n\r\n", "GET /a HTTP/1.1\r\nHost: h\r\nAccept: a\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: h\r\nAccept: b\r\n\r\n", "GET /a HTTP/1.1\r\nHost: h\r\nOrigin: a\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: h\r\nAccept-Encoding: a\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: h\r\nAccept-Language: a\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
    ]
    let keys = try heads.map { try #require(find($0)).key }
    #expect(Set(keys).count == heads.count)
    let other = try #require(find("GET /a HTTP/1.1\r\nHost: h\r\nUser-Agent: x\r\nDNT: 1\r\n\r\n")).key
    #expect(other == keys[0])
  }
}
