import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10))) struct SelectionCodecTests {
  static let selections: [CacheSelection] = [
    .all, .partition(mode: .private, "p"), .key(Sample.key(partition: "ü")),
    .variant(Sample.key(), sequence: .max),
    .target("https://example.com/a?b"), .prefix("https://example.com/"),
    .site(origin: "https://example.com", mode: .shared, partition: ""),
    .group(origin: "https://example.com", name: "g"),
    .storedSince(Timestamp(seconds: .min)), .unusedSince(Timestamp(seconds: 0)),
    .storedBefore(Timestamp(seconds: .max)),
  ]

  @Test("each selection is read as it was written, and no beginning of it is", arguments: selections)
  func all(selection: CacheSelection) {
    let bytes = SelectionCodec.encode(selection)
    #expect(SelectionCodec.decode(bytes) == selection)
    for count in bytes.indices { #expect(SelectionCodec.decode(Array(bytes[..<count])) == nil) }
    #expect(SelectionCodec.decode(bytes + [0]) == nil)
  }

  @Test(
    "bytes of another version are nil", arguments: [[], [11], [255], [1, 9, 0], [4, 1, 0xFF]] as [[UInt8]])
  func hostile(bytes: [UInt8]) { #expect(SelectionCodec.decode(bytes) == nil) }

  @Test("positions are ordered as their digits, and read from the server's text")
  func positions() {
    let position = SharedPosition(time: 1_700_000_000_000, number: 3)
    #expect(position.digits.utf8.count == 40 && SharedPosition(digits: position.digits.utf8) == position)
    let highest = SharedPosition(time: .max, number: .max)
    #expect(SharedPosition(digits: highest.digits.utf8) == highest && position.digits < highest.digits)
    #expect(SharedPosition("1700000000000-3") == position)
    for text in [
      nil, "", "-", "1", "1-", "-1", "1-2-3", "+1-2", "1-+2", "x-1", "18446744073709551616-0", " 1-0",
    ] {
      #expect(SharedPosition(text) == nil, "\(text ?? "nil")")
    }
    #expect(SharedPosition(digits: String(repeating: "9", count: 40).utf8) == nil)
    #expect(SharedPosition(digits: ("+" + String(repeating: "0", count: 39)).utf8) == nil)
  }
}
