import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

/// Properties of every record: `decode` accepts whatever `encode` accepts, and returns an equal record.
@Suite(.timeLimit(.minutes(10))) struct RecordCodecPropertyTests {
  @Test("whatever encode accepts, decode accepts and gives back equal")
  func acceptedIsReadAgain() throws {
    var accepted = 0
    for seed in UInt64(1)...1_000 {
      let record = RandomRecord(seed: seed).record
      guard let bytes = try? RecordCodec.encode(record) else { continue }
      accepted += 1
      do {
        Self.expectEqual(try RecordCodec.decode(bytes), record, seed)
      } catch {
        Issue.record("seed \(seed): encoded, but not read again: \(error)")
      }
      if seed % 16 == 0 {
        #expect(try RecordCodec.encode(RecordCodec.decode(bytes)) == bytes, "seed \(seed)")
      }
    }
    #expect(accepted > 500)
  }

  @Test(
    "lengths and ranges that decode refuses are refused when they are written",
    arguments: [
      (-1, nil), (100, [-5..<5]), (100, [0..<101]), (100, [10..<20, 15..<30]), (100, [50..<60, 0..<10]),
      (nil, [5..<6, 4..<5]),
    ] as [(Int64?, [Range<Int64>]?)])
  func lengths(_ length: Int64?, _ ranges: [Range<Int64>]?) throws {
    let sound = RandomRecord.plain
    _ = try RecordCodec.encode(sound)
    let error = #expect(throws: CacheError.self) {
      try RecordCodec.encode(sound.storing(ranges, bodyLength: length))
    }
    #expect(error?.code == .damaged)
  }

  @Test("more fields than are read are refused when they are written, in heads and in trailers")
  func manyFields() throws {
    let name = try #require(HTTPField.Name("a"))
    var fields = HTTPFields()
    for _ in 0..<16_384 { fields.append(HTTPField(name: name, value: "")) }
    func encoded(head: HTTPFields, trailers: HTTPFields) throws -> [UInt8] {
      var response = RandomRecord.plain.response
      response.head.headerFields = head
      response.trailers = trailers
      return try RecordCodec.encode(RandomRecord.plain.with(response: response))
    }
    #expect(try RecordCodec.decode(encoded(head: fields, trailers: fields)).response.trailers.count == 16_384)
    var more = fields
    more.append(HTTPField(name: name, value: ""))
    for (head, trailers) in [(more, HTTPFields()), (HTTPFields(), more)] {
      let error = #expect(throws: CacheError.self) { try encoded(head: head, trailers: trailers) }
      #expect(error?.code == .tooLarge)
    }
  }

  private static func expectEqual(_ one: CacheRecord, _ other: CacheRecord, _ seed: UInt64) {
    func exact(_ fields: HTTPFields) -> [[UInt8]] {
      fields.flatMap { [Array($0.name.rawName.utf8), $0.withUnsafeBytesOfValue { Array($0) }] }
    }
    #expect(one.key == other.key, "seed \(seed)")
    #expect(one.response == other.response, "seed \(seed)")
    #expect(exact(one.response.head.headerFields) == exact(other.response.head.headerFields), "seed \(seed)")
    #expect(exact(one.response.trailers) == exact(other.response.trailers), "seed \(seed)")
    #expect(one.response.head.status.reasonPhrase == other.response.head.status.reasonPhrase, "seed \(seed)")
    #expect(one.bodyLength == other.bodyLength, "seed \(seed)")
    #expect(one.storedRanges == other.storedRanges, "seed \(seed)")
    #expect(one.groups == other.groups && one.userInfo == other.userInfo, "seed \(seed)")
    #expect(one.sequence == other.sequence, "seed \(seed)")
    #expect(
      [one.isSeed, one.isPinned, one.isMemoryOnly] == [other.isSeed, other.isPinned, other.isMemoryOnly],
      "seed \(seed)")
  }
}
