import HTTPTypes
import NIOCore
import Testing

@testable import HTTPCacheProxy

@Suite("The codec's parts by themselves", .timeLimit(.minutes(10))) struct CodecTests {
  static let chunked = Array(
    "5;a=b\r\nhello\r\nA\r\n0123456789\r\n000\r\nX-One: 1\r\nX-Two: 2\r\n\r\nrest".utf8)

  @Test("chunks mean the same however they are cut into pieces", arguments: 1...20)
  func cuts(_ size: Int) throws {
    var decoder = ChunkedDecoder(limits: MessageLimits(), form: .request)
    var content: [UInt8] = []
    var rest: [UInt8] = []
    for start in stride(from: 0, to: Self.chunked.count, by: size) {
      var buffer = ByteBuffer(bytes: Self.chunked[start..<min(start + size, Self.chunked.count)])
      while let piece = try decoder.next(&buffer) { content += piece.readableBytesView }
      rest += buffer.readableBytesView
    }
    #expect(String(decoding: content, as: UTF8.self) == "hello0123456789")
    #expect(decoder.isComplete)
    #expect(decoder.trailers.map { "\($0.name)=\($0.value)" } == ["X-One=1", "X-Two=2"])
    #expect(String(decoding: rest, as: UTF8.self) == "rest")
  }

  @Test("chunk extensions and trailers are bounded")
  func bounds() {
    var decoder = ChunkedDecoder(limits: MessageLimits(headBytes: 100), form: .request)
    var long = ByteBuffer(string: "1;" + String(repeating: "a", count: 20_000))
    #expect(throws: ProtocolViolation.self) { while try decoder.next(&long) != nil {} }
    decoder = ChunkedDecoder(limits: MessageLimits(headBytes: 100), form: .request)
    var trailers = ByteBuffer(string: "0\r\nX: " + String(repeating: "a", count: 200) + "\r\n\r\n")
    #expect(throws: ProtocolViolation.self) { while try decoder.next(&trailers) != nil {} }
  }

  @Test(
    "RFC 9112 §7.1.1 nothing but white space and an extension follows a chunk size",
    arguments: ["1 0\r\na\r\n0\r\n\r\n", "1\t;a\r\na\r\n0\r\n\r\n", "1 \r\na\r\n0\r\n\r\n"])
  func afterSize(_ text: String) throws {
    var decoder = ChunkedDecoder(limits: MessageLimits(), form: .request)
    var buffer = ByteBuffer(string: text)
    if text.hasPrefix("1 0") {
      #expect(throws: ProtocolViolation.self) { while try decoder.next(&buffer) != nil {} }
    } else {
      #expect(try decoder.next(&buffer).map { String(buffer: $0) } == "a")
      #expect(try decoder.next(&buffer) == nil)
      #expect(decoder.isComplete)
    }
  }

  @Test("RFC 9112 §7.1 zeros in front of a chunk size do not count as its digits, and are bounded")
  func zeros() throws {
    let last = String(repeating: "0", count: 16)
    var decoder = ChunkedDecoder(limits: MessageLimits(), form: .request)
    var buffer = ByteBuffer(string: last + "2\r\nok\r\n" + last + "\r\n\r\n")
    #expect(try decoder.next(&buffer).map { String(buffer: $0) } == "ok")
    #expect(try decoder.next(&buffer) == nil)
    #expect(decoder.isComplete)
    for size in ["01" + last, String(repeating: "0", count: 20_000)] {
      decoder = ChunkedDecoder(limits: MessageLimits(), form: .request)
      buffer = ByteBuffer(string: size)
      #expect(throws: ProtocolViolation.self, "\(size.prefix(20))") {
        while try decoder.next(&buffer) != nil {}
      }
    }
  }

  @Test("RFC 9112 §7 chunked is that word in ASCII, alone and without parameters")
  func chunkedByName() throws {
    for coding in ["chunked;a=b", "chun\u{212A}ed", "gzip;q=1", "x, chunked"] {
      let fields = "Transfer-Encoding: \(coding)\r\n\r\n"
      #expect(throws: ProtocolViolation.self) {
        try Array("POST / HTTP/1.1\r\n\(fields)".utf8).withUnsafeBytes {
          try RequestHead($0, limits: MessageLimits()).framing()
        }
      }
      guard !coding.contains("\u{212A}") else { continue }
      #expect(throws: ProtocolViolation.self) {
        try Array("HTTP/1.1 200 OK\r\n\(fields)".utf8).withUnsafeBytes {
          try ResponseHead($0, limits: MessageLimits()).framing(for: .get)
        }
      }
    }
  }

  @Test("RFC 9112 §2.2 up to four empty lines before a request are skipped, and end no connection wrongly")
  func emptyLines() throws {
    func range(_ text: String) throws -> (Range<Int>?, mayEnd: Bool) {
      try Array(text.utf8).withUnsafeBytes { bytes in
        var decoder = HeadDecoder(limits: MessageLimits(), form: .request)
        let range = try decoder.range(in: bytes)
        return (range, decoder.mayEnd(after: bytes))
      }
    }
    #expect(try range("\r\n\r\nGET / HTTP/1.1\r\n\r\n").0 == 4..<22)
    #expect(try range("\r\n\r\n").mayEnd)
    #expect(try range("\r\n\r").mayEnd == false)
    #expect(throws: ProtocolViolation.self) { try range("\r\n\r\n\r\n\r\n\r\n") }
    #expect(throws: ProtocolViolation.self) { try range("\rG") }
  }

  @Test("the end of a head is found wherever its pieces are cut", arguments: 1...12)
  func scanner(_ size: Int) throws {
    let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody\r\n\r\n".utf8)
    var scanner = HeadScanner(isLenient: false)
    var found: Int?
    for end in Array(stride(from: size, to: bytes.count, by: size)) + [bytes.count] where found == nil {
      found = try bytes[..<end].withUnsafeBytes { try scanner.end(in: $0, limits: MessageLimits()) }
    }
    #expect(found == 27)
  }

  @Test(
    "authorities",
    arguments: [
      ("a", "a", nil), ("A.b:80", "a.b", 80), ("[::1]", "::1", nil), ("[::1]:8080", "::1", 8080),
      ("a:", "a", nil),
      ("127.0.0.1:1", "127.0.0.1", 1),
    ] as [(String, String, Int?)])
  func authorities(_ text: String, _ host: String, _ port: Int?) throws {
    let authority = try #require(Authority(text))
    #expect(authority.host == host)
    #expect(authority.port == port)
  }

  @Test(
    "what is no authority",
    arguments: [
      "[\u{FF11}::]", "", ":80", "a:b", "a:0", "a:65536", "a:-1", "a@b", "a/b", "a b", "[::1", "[a]",
      "[::1]x", "::1",
      "a:1:2",
    ])
  func noAuthority(_ text: String) { #expect(Authority(text) == nil) }

  @Test(
    "RFC 3986 §4.2: the authority of a reference, which a query does not have",
    arguments: [
      ("http://a:1/b", "a:1"), ("//a?b", "a"), ("x+y-z.1://a#b", "a"), ("http://a", "a"), ("http:///b", ""),
      ("a/b", nil), ("/b?c=http://d/", nil), ("b_c://d", nil), ("://a", nil), ("http:a", nil), ("", nil),
    ] as [(String, String?)])
  func authorityRange(reference: String, authority: String?) {
    #expect(Authority.range(in: reference.utf8).map { String(reference[$0]) } == authority)
  }

  @Test("a name in Via is found among others, and only there")
  func via() {
    let via = ViaField(name: "cache")
    var fields = HTTPFields()
    #expect(!via.isLoop(fields))
    fields[.via] = "1.1 other, 1.0 \(via.pseudonym)x"
    #expect(!via.isLoop(fields))
    fields[.via] = "1.1 other,1.0\t\(via.pseudonym) (comment)"
    #expect(via.isLoop(fields))
    #expect(ViaField(name: "cache").pseudonym != via.pseudonym)
  }

  @Test(
    "RFC 9110 §7.6.3 Via names the version in which the message came",
    arguments: ["1.1", "1.0", "2"])
  func viaVersion(_ version: String) {
    let via = ViaField(name: "cache")
    var fields: HTTPFields = [.via: "1.0 other"]
    via.append(to: &fields, version: version)
    #expect(fields[.via] == "1.0 other, \(version) \(via.pseudonym)")
  }

  @Test(
    "RFC 9110 §5.1 a field name keeps its spelling, and means the same in each",
    arguments: [
      ("Content-Type", "content-type"), ("content-type", "content-type"), ("CONTENT-TYPE", "content-type"),
      ("Host", "host"), ("hOST", "host"), ("Hosts", "hosts"), ("Content-Typo", "content-typo"),
      ("ETag", "etag"), ("X-Forwarded-Proto-And-More", "x-forwarded-proto-and-more"), ("V", "v"),
    ])
  func spelling(_ name: String, _ canonical: String) throws {
    let lines = Array("\(name): a b\r\n\r\n".utf8)
    let fields = try lines.withUnsafeBytes {
      try FieldParser(trimsNames: false, limits: MessageLimits()).fields(in: $0)
    }
    let field = try #require(fields.first)
    #expect(fields.count == 1)
    #expect(field.name.rawName == name)
    #expect(field.name.canonicalName == canonical)
    #expect(field.value == "a b")
  }

  @Test(
    "RFC 9112 §5.1 a line without a name, or with a space before its colon, is no field",
    arguments: [": a", "Host : a"])
  func noName(_ line: String) {
    let lines = Array("\(line)\r\n\r\n".utf8)
    #expect(throws: ProtocolViolation.self) {
      try lines.withUnsafeBytes {
        try FieldParser(trimsNames: false, limits: MessageLimits()).fields(in: $0)
      }
    }
  }

  @Test(
    "RFC 9110 §5.6.1 a token is found in a list whatever its letters and blanks, and nothing else is taken for it",
    arguments: [
      ("close", true), ("Close", true), ("keep-alive, \tCLOSE ,", true), ("a,close", true), ("", false),
      ("closed", false), ("\"close\"", false), ("close;a", false), (",", false),
    ])
  func tokens(_ value: String, _ isFound: Bool) {
    #expect(FieldList.contains("close", in: [.connection: value], .connection) == isFound)
    #expect(FieldList.contains("close", in: [.connection: "x", .expect: value], .connection) == false)
  }

  @Test("RFC 9110 §10.1.1 an octet that differs from a digit in one bit is no digit of an expectation")
  func expectation() {
    func contains(_ first: UInt8) -> Bool {
      var fields = HTTPFields()
      fields.append(HTTPField(name: .expect, lenientValue: [first] + Array("00-continue".utf8)))
      return FieldList.contains("100-continue", in: fields, .expect)
    }
    #expect(contains(UInt8(ascii: "1")))
    #expect(!contains(UInt8(ascii: "1") & ~0x20))
  }

  @Test(
    "RFC 9112 §6.3 one length is written for the next recipient, however often and in which form it came",
    arguments: [
      (["5"], ["5"]), (["0"], ["0"]), (["05"], ["5"]), (["5", "5"], ["5"]), (["5, 5"], ["5"]), ([], []),
    ])
  func oneLength(_ values: [String], _ expected: [String]) throws {
    var fields: HTTPFields = [.date: "x"]
    fields[values: .contentLength] = values
    try Framing.simplifyLength(in: &fields)
    #expect(fields[values: .contentLength] == expected)
  }

  @Test("a response's framing follows RFC 9112 §6.3 in its order")
  func framing() throws {
    func framing(_ head: String, _ method: HTTPRequest.Method = .get) throws -> Framing {
      try Array(head.utf8).withUnsafeBytes { try ResponseHead($0, limits: MessageLimits()) }
        .framing(for: method)
    }
    #expect(try framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n") == .length(5))
    #expect(try framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .head) == .none)
    #expect(try framing("HTTP/1.1 204 OK\r\nTransfer-Encoding: chunked\r\n\r\n") == .none)
    #expect(try framing("HTTP/1.1 304 OK\r\nContent-Length: 5\r\n\r\n") == .none)
    #expect(try framing("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n") == .chunked)
    #expect(try framing("HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\n") == .untilClose)
    #expect(try framing("HTTP/1.1 200 OK\r\n\r\n") == .untilClose)
    #expect(try framing("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n") == .none)
  }
}
