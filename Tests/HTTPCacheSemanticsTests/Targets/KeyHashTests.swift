import HTTPCacheSemantics
import Testing

/// Keys are hashed under a secret, each to bytes of its own.
@Suite(.timeLimit(.minutes(10))) struct KeyHashTests {
  private let secret = SipHash13.Secret(0..<16)

  // Hashes of the bytes 0, 1, 2 and so on under the key 00 01 … 0f, from another program, which gives the results
  // of the paper for two and four rounds.
  @Test(
    "SipHash-1-3 gives the results of another program",
    arguments: [
      (0, 0xABAC_0158_050F_C4DC), (1, 0xC9F4_9BF3_7D57_CA93), (7, 0xD392_7D98_9BB1_1140),
      (8, 0x3690_9511_8D29_9A8E), (9, 0x25A4_8EB3_6C06_3DE4), (15, 0xD320_D86D_2A51_9956),
      (16, 0xCC4F_DD1A_7D90_8B66), (31, 0x2370_DD1F_8C21_D1BC), (32, 0x8115_7B6C_16A7_B60D),
      (63, 0x9D19_9062_B7BB_B3A8),
    ] as [(Int, UInt64)])
  func results(length: Int, expected: UInt64) {
    let bytes = (0..<UInt8(length)).map(\.self)
    #expect(SipHash13.hash(bytes, secret) == expected)
    // However it comes.
    for middle in 0...length {
      var hash = SipHash13(secret)
      bytes[..<middle].withUnsafeBytes { hash.append($0) }
      bytes[middle...].withUnsafeBytes { hash.append($0) }
      #expect(hash.finish() == expected, "\(middle)")
    }
    var hash = SipHash13(secret)
    for byte in bytes { hash.append(byte) }
    #expect(hash.finish() == expected)
  }

  @Test("a key's bytes are target, FF, partition, FF, digest, mode and method class")
  func bytes() {
    let key = CacheKey(
      mode: .shared, partition: "pä", methodClass: .query, target: "https://example.com/",
      contentDigest: [1, 2])
    let bytes =
      Array("https://example.com/".utf8) + [0xFF] + Array("pä".utf8) + [0xFF, 1, 2] + [1, 1]
    #expect(key.hash(under: secret) == SipHash13.hash(bytes, secret))
    let plain = CacheKey(mode: .private, target: "https://example.com/")
    #expect(
      plain.hash(under: secret)
        == SipHash13.hash(Array("https://example.com/".utf8) + [0xFF, 0xFF, 0, 0], secret))
  }

  @Test("whatever differs between two keys, their hashes differ, and under two secrets those of one key")
  func different() {
    let keys = [
      CacheKey(mode: .private, target: "ab"), CacheKey(mode: .shared, target: "ab"),
      CacheKey(mode: .private, partition: "b", target: "a"),
      CacheKey(mode: .private, partition: "ab", target: ""),
      CacheKey(mode: .private, methodClass: .query, target: "ab"),
      CacheKey(mode: .private, target: "ab", contentDigest: [0]),
      CacheKey(mode: .private, target: "ab", contentDigest: [0xFF]),
      CacheKey(mode: .private, target: "a", contentDigest: [0x62, 0xFF]),
      CacheKey(mode: .private, target: "ab", contentDigest: [0, 0]),
    ]
    #expect(Set(keys.map { $0.hash(under: secret) }).count == keys.count)
    #expect(Set(keys.map(\.processHash)).count == keys.count)
    #expect(keys.allSatisfy { $0.hash(under: secret) != $0.hash(under: .init(low: 0, high: 0)) })
    #expect(keys.allSatisfy { $0.processHash == $0.with(target: $0.target).processHash })
  }
}
