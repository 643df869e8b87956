import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordCodecTests {
  /// The record in `Fixtures/record.bin`, which another program wrote.
  static func written() throws -> CacheRecord {
    func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }
    var head = HTTPResponse(status: .init(code: 203, reasonPhrase: "Quite So"))
    head.headerFields.append(HTTPField(name: try name("Content-Type"), value: "text/plain"))
    head.headerFields.append(HTTPField(name: try name("X-Dup"), value: "one"))
    head.headerFields.append(HTTPField(name: try name("x-dup"), value: "two"))
    head.headerFields.append(
      HTTPField(name: try name("X-Latin"), lenientValue: Array("caf".utf8) + [0xE9]))
    head.headerFields.append(HTTPField(name: try name("Empty"), value: ""))
    var trailers = HTTPFields()
    trailers.append(HTTPField(name: try name("Checksum"), value: "abc"))
    return CacheRecord(
      key: CacheKey(
        mode: .shared, partition: "account-ü", methodClass: .query,
        target: "https://example.com/a?q=1", contentDigest: [0xDE, 0xAD]),
      response: StoredResponse(
        requestMethod: try #require(HTTPRequest.Method("QUERY")),
        nominated: [
          NominatedField(name: try name("Accept-Language"), value: .text("de")),
          NominatedField(name: try name("cookie"), value: .digest(Array(0..<32))),
          NominatedField(name: try name("x-none"), value: .absent),
        ],
        head: head, trailers: trailers, requestTime: Timestamp(seconds: 1_700_000_000),
        responseTime: Timestamp(seconds: 1_700_000_002), answeredAuthorized: true, isDecoded: true,
        isInvalidated: true, isExpired: false, requestedRange: nil,
        facts: ReuseFacts(
          freshnessLifetime: -5, lifetimeSource: .heuristic, correctedInitialAge: 7,
          directives: [.mustRevalidate, .public], windows: ReuseWindows([.staleWhileRevalidate: 30]),
          overrides: 0), keyFingerprint: 0),
      bodyLength: 1_000_000, storedRanges: [0..<100, 4_096..<8_192], groups: ["news", "sport"],
      userInfo: [0, 255, 1], isSeed: false, isPinned: true, isMemoryOnly: false, isResumable: false,
      sequence: 42, ticket: nil)
  }

  static func fixture() throws -> [UInt8] {
    let url = try #require(
      Bundle.module.url(forResource: "record", withExtension: "bin", subdirectory: "Fixtures"))
    return Array(try Data(contentsOf: url))
  }

  static func expectEqual(_ one: CacheRecord, _ other: CacheRecord) {
    #expect(one.key == other.key)
    #expect(one.response == other.response)
    // `==` ignores the case of field names, the order of fields, and the reason phrase.
    func exact(_ fields: HTTPFields) -> [[UInt8]] {
      fields.flatMap { [Array($0.name.rawName.utf8), $0.withUnsafeBytesOfValue { Array($0) }] }
    }
    #expect(exact(one.response.head.headerFields) == exact(other.response.head.headerFields))
    #expect(exact(one.response.trailers) == exact(other.response.trailers))
    #expect(one.response.head.status.reasonPhrase == other.response.head.status.reasonPhrase)
    #expect(
      one.response.nominated.map(\.name.rawName) == other.response.nominated.map(\.name.rawName))
    #expect(one.bodyLength == other.bodyLength)
    #expect(one.storedRanges == other.storedRanges)
    #expect(one.groups == other.groups)
    #expect(one.userInfo == other.userInfo)
    #expect(one.isSeed == other.isSeed)
    #expect(one.isPinned == other.isPinned)
    #expect(one.isMemoryOnly == other.isMemoryOnly)
    #expect(one.sequence == other.sequence)
  }

  @Test("a record decodes to what another program wrote")
  func reads() throws {
    Self.expectEqual(try RecordCodec.decode(try Self.fixture()), try Self.written())
  }

  @Test("a record is written byte for byte as the other program wrote it")
  func writes() throws {
    #expect(try RecordCodec.encode(try Self.written()) == (try Self.fixture()))
  }

  @Test("a record cut anywhere is damaged")
  func truncated() throws {
    let whole = try Self.fixture()
    for length in 0..<whole.count {
      let error = #expect(throws: CacheError.self) {
        try RecordCodec.decode(Array(whole[..<length]))
      }
      #expect(error?.code == .damaged)
    }
  }

  @Test("a record with any one bit flipped is damaged")
  func flipped() throws {
    let whole = try Self.fixture()
    for index in whole.indices {
      for bit in 0..<8 {
        var bytes = whole
        bytes[index] ^= 1 << bit
        #expect(throws: CacheError.self) { try RecordCodec.decode(bytes) }
      }
    }
  }

  /// Appends the correct checksum to any content.
  static func sealed(_ content: some Collection<UInt8>) -> [UInt8] {
    let content = Array(content)
    return content + withUnsafeBytes(of: XXH64.hash(content).littleEndian) { Array($0) }
  }

  @Test("hostile bytes under a checksum that holds never crash, and decode only to what encodes the same")
  func hostile() throws {
    let content = try Self.fixture().dropLast(8)
    var decoded = 0
    for index in content.indices {
      for value in [UInt8(0), 1, 0x7F, 0x80, 0xFF, content[index] ^ 1, content[index] ^ 0x20] {
        var bytes = Array(content)
        bytes[index] = value
        let input = Self.sealed(bytes)
        guard let record = try? RecordCodec.decode(input) else { continue }
        decoded += 1
        #expect(try RecordCodec.encode(record) == input, "byte \(index) = \(value)")
      }
    }
    #expect(decoded > 0, "some changes are other content that is as good")
  }

  @Test("random bytes under a checksum that holds never crash")
  func random() {
    var seed: UInt64 = 7
    for length in 0..<2_000 {
      seed &+= 1
      var input = bytes(length % 200 + 1, seed: seed)
      input[0] = 1
      let sealed = Self.sealed(input)
      if let record = try? RecordCodec.decode(sealed) {
        #expect((try? RecordCodec.encode(record)) == sealed)
      }
    }
  }

  @Test("field values with CR, LF or NUL, names that are no tokens, and bytes at the end are refused")
  func smuggling() throws {
    let content = Array(try Self.fixture().dropLast(8))
    let value = try #require(content.firstRange(of: Array("text/plain".utf8)))
    let name = try #require(content.firstRange(of: Array("Content-Type".utf8)))
    for byte in [UInt8(0), 0x0A, 0x0D] {
      var bytes = content
      bytes[value.lowerBound] = byte
      #expect(throws: CacheError.self) { try RecordCodec.decode(Self.sealed(bytes)) }
    }
    for byte in [UInt8(ascii: ":"), UInt8(ascii: " "), 0xC3] {
      var bytes = content
      bytes[name.lowerBound] = byte
      #expect(throws: CacheError.self) { try RecordCodec.decode(Self.sealed(bytes)) }
    }
    #expect(throws: CacheError.self) { try RecordCodec.decode(Self.sealed(content + [0])) }
    #expect(throws: CacheError.self) {
      try RecordCodec.decode([UInt8](repeating: 1, count: RecordCodec.longestRecord + 1))
    }
  }

  @Test("each byte that a field value may have comes back from each place in it")
  func fieldBytes() throws {
    let plain = Array("a value of nineteen".utf8)
    let name = try #require(HTTPField.Name("X-Value"))
    for byte in UInt8.min...UInt8.max where ![0, 0x0A, 0x0D].contains(byte) {
      var head = HTTPResponse(status: .ok)
      for place in plain.indices {
        var value = plain
        value[place] = byte
        head.headerFields.append(HTTPField(name: name, lenientValue: value))
      }
      let stored = try record("/a")
      var response = stored.response
      response.head = head
      let decoded = try RecordCodec.decode(try RecordCodec.encode(stored.with(response: response)))
      for (place, field) in decoded.response.head.headerFields.enumerated() {
        var value = plain
        value[place] = byte
        #expect(field.withUnsafeBytesOfValue { Array($0) } == value, "\(byte) at \(place)")
      }
      #expect(decoded.response.head.headerFields.count == plain.count)
    }
  }

  @Test("a record of a newer format says so")
  func newer() throws {
    var content = Array(try Self.fixture().dropLast(8))
    content[0] = RecordCodec.recordFormat + 1
    let error = #expect(throws: CacheError.self) { try RecordCodec.decode(Self.sealed(content)) }
    #expect(error?.code == .newerFormat)
  }

  @Test("a record of an earlier format is damaged: the entry counts as not stored")
  func earlier() throws {
    var content = Array(try Self.fixture().dropLast(8))
    content[0] = RecordCodec.recordFormat - 1
    let error = #expect(throws: CacheError.self) { try RecordCodec.decode(Self.sealed(content)) }
    #expect(error?.code == .damaged)
  }

  @Test("a record that is too long is refused when it is written")
  func tooLong() throws {
    let long = try Self.written().with(
      userInfo: [UInt8](repeating: 0, count: RecordCodec.longestRecord))
    let error = #expect(throws: CacheError.self) { try RecordCodec.encode(long) }
    #expect(error?.code == .tooLarge)
  }

  @Test("XXH64 gives its official results")
  func vectors() {
    #expect(XXH64.hash([]) == 0xEF46_DB37_51D8_E999)
    #expect(XXH64.hash(Array("a".utf8)) == 0xD24E_C4F1_A98C_6E5B)
    #expect(XXH64.hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
  }
}
