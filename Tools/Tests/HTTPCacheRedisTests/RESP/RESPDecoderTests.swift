import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10))) struct RESPDecoderTests {
  /// One reply of each kind, and those that a tier awaits.
  static let replies: [(text: String, value: RESPValue)] = [
    ("+OK\r\n", .simple(Array("OK".utf8))),
    ("+\r\n", .simple([])),
    ("-ERR unknown command\r\n", .error("ERR unknown command")),
    (":0\r\n", .integer(0)),
    (":-2\r\n", .integer(-2)),
    (":9223372036854775807\r\n", .integer(.max)),
    (":-9223372036854775808\r\n", .integer(.min)),
    ("$5\r\nhello\r\n", .bulk(Array("hello".utf8))),
    ("$0\r\n\r\n", .bulk([])),
    ("$4\r\n\r\n\r\n\r\n", .bulk([13, 10, 13, 10])),
    ("$-1\r\n", .null),
    ("*-1\r\n", .null),
    ("*0\r\n", .array([])),
    ("*2\r\n$1\r\na\r\n:7\r\n", .array([.bulk([97]), .integer(7)])),
    (
      "*2\r\n*1\r\n+x\r\n*2\r\n$-1\r\n-NOSCRIPT No\r\n",
      .array([.array([.simple([120])]), .array([.null, .error("NOSCRIPT No")])])
    ),
    (
      "*1\r\n*2\r\n$3\r\nlog\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nu\r\n$1\r\nx\r\n",
      .array([
        .array([
          .bulk(Array("log".utf8)),
          .array([.array([.bulk(Array("1-0".utf8)), .array([.bulk([117]), .bulk([120])])])]),
        ])
      ])
    ),
  ]

  private func decode(_ pieces: [ArraySlice<UInt8>], limits: RESPLimits = RESPLimits()) throws -> [RESPValue]
  {
    var decoder = RESPDecoder(limits: limits)
    var values: [RESPValue] = []
    for piece in pieces { try Array(piece).withUnsafeBytes { try decoder.decode($0) { values.append($0) } } }
    return values
  }

  @Test("a reply of each kind is read, whole and cut at every byte", arguments: replies.indices)
  func splits(index: Int) throws {
    let (text, value) = Self.replies[index]
    let bytes = Array(text.utf8)
    #expect(try decode([bytes[...]]) == [value])
    #expect(try decode(bytes.indices.map { bytes[$0...$0] }) == [value])
    for place in bytes.indices { #expect(try decode([bytes[..<place], bytes[place...]]) == [value]) }
  }

  @Test("replies one after the other are read, cut at each two bytes")
  func pipelined() throws {
    let bytes = Array(Self.replies.map(\.text).joined().utf8)
    let values = Self.replies.map(\.value)
    #expect(try decode([bytes[...]]) == values)
    for first in stride(from: 0, to: bytes.count, by: 7) {
      for second in stride(from: first, to: bytes.count, by: 11) {
        #expect(try decode([bytes[..<first], bytes[first..<second], bytes[second...]]) == values)
      }
    }
  }

  @Test(
    "bytes that are no reply are an error, at every split",
    arguments: [
      "\r\n", "?\r\n", "%1\r\n+a\r\n+b\r\n", "_\r\n", "+OK\n", "$5\r\nhellox\r\n", "$5\r\nhello\rx", "$x\r\n",
      "$-2\r\n", "*-2\r\n", "$\r\n", "*\r\n", ":\r\n", ":1.5\r\n", ":9223372036854775808\r\n",
      ":-9223372036854775809\r\n", ":99999999999999999999999\r\n", "$99999999999\r\n",
      "$9223372036854775807\r\n", ":000000000000000000001\r\n",
      "*9223372036854775807\r\n", "*1000000000\r\n", "$ 1\r\na\r\n", "$1 \r\na\r\n", "$+-1\r\n",
      "HTTP/1.1 400\r\n",
      "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
    ])
  func hostile(text: String) {
    let bytes = Array(text.utf8)
    for place in bytes.indices {
      var decoder = RESPDecoder()
      var values: [RESPValue] = []
      var failures = 0
      for piece in [bytes[..<place], bytes[place...]] {
        do { try Array(piece).withUnsafeBytes { try decoder.decode($0) { values.append($0) } } } catch {
          failures += 1
        }
      }
      #expect(failures > 0 && values.isEmpty, "cut at \(place)")
      #expect(throws: RESPFailure.self) {
        try Array("+OK\r\n".utf8).withUnsafeBytes { try decoder.decode($0) { _ in } }
      }
    }
  }

  @Test("a reply beyond a limit is an error; one at the limit is read")
  func limits() throws {
    let limits = RESPLimits(line: 8, bulk: 4, bytes: 6, values: 5, depth: 2)
    func count(_ text: String) throws -> Int { try decode([Array(text.utf8)[...]], limits: limits).count }
    #expect(try count("+123456\r\n") == 1)
    #expect(throws: RESPFailure.self) { try count("+12345678\r\n") }
    #expect(throws: RESPFailure.self) { try count("+1234567890123") }
    #expect(try count("$4\r\nabcd\r\n$4\r\nabcd\r\n") == 2)
    #expect(throws: RESPFailure.self) { try count("$5\r\nabcde\r\n") }
    #expect(try count("*2\r\n+abc\r\n-abc\r\n") == 1)
    #expect(throws: RESPFailure.self) { try count("*2\r\n+abcd\r\n+abc\r\n") }
    #expect(throws: RESPFailure.self) { try count("*2\r\n-abcd\r\n$3\r\nabc\r\n") }
    #expect(throws: RESPFailure.self) { try count("*2\r\n$4\r\nabcd\r\n$4\r\nabcd\r\n") }
    #expect(try count("*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n") == 1)
    #expect(throws: RESPFailure.self) { try count("*5\r\n") }
    #expect(try count("*1\r\n*1\r\n:1\r\n") == 1)
    #expect(throws: RESPFailure.self) { try count("*1\r\n*1\r\n*1\r\n") }
  }

  @Test("nested arrays cannot announce more values than one reply may have")
  func announcedValues() {
    var decoder = RESPDecoder(limits: RESPLimits(line: 32, bulk: 4, bytes: 6, values: 100, depth: 8))
    // Each is within the limit; together they are not, and no space is reserved for what does not come.
    let text = String(repeating: "*90\r\n", count: 7) + String(repeating: ":1\r\n", count: 200)
    #expect(throws: RESPFailure.self) {
      try Array(text.utf8).withUnsafeBytes { try decoder.decode($0) { _ in } }
    }
  }

  @Test("the values of an array are found by their names; a name without UTF-8 or a value is left out")
  func fields() {
    let name = Array("a".utf8)
    let value = RESPValue.array([.bulk(name), .integer(1), .bulk([0xFF]), .integer(2), .bulk(name)])
    #expect(value.fields == ["a": .integer(1)])
    #expect(RESPValue.null.fields == nil)
  }

  @Test("commands are arrays of bulk strings")
  func encoder() throws {
    var bytes: [UInt8] = []
    let command = [Array("SET".utf8), [], [0, 13, 10, 255]]
    RESPEncoder.append(command, to: &bytes)
    #expect(bytes == Array("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n".utf8) + [0, 13, 10, 255, 13, 10])
    #expect(bytes.count <= RESPEncoder.length(of: command))
    #expect(try decode([bytes[...]]) == [.array(command.map { .bulk($0) })])
  }
}
