import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("RFC 9530 Digest fields", .timeLimit(.minutes(10)))
struct RFC9530_IntegrityDigestTests {
  private func list(_ value: String, _ name: String = "Repr-Digest") throws -> [IntegrityDigest] {
    IntegrityDigest.list(
      of: name == "Repr-Digest" ? .representation : .content, in: try fields([name: value]))
  }

  @Test(
    "§2, §3 A dictionary of byte sequences, each field for itself",
    arguments: ["Content-Digest", "Repr-Digest"])
  func members(name: String) throws {
    #expect(
      try list("sha-512=:AQID:, sha-256=:/+8=:", name)
        == [
          IntegrityDigest(algorithm: .sha256, value: [0xFF, 0xEF]),
          IntegrityDigest(algorithm: .sha512, value: [1, 2, 3]),
        ])
    let other: IntegrityDigest.Subject = name == "Repr-Digest" ? .content : .representation
    #expect(IntegrityDigest.list(of: other, in: try fields([name: "sha-256=:AQID:"])).isEmpty)
  }

  @Test("RFC 9651 §4.2.2 Of a key that comes twice the last value counts, over several lines too")
  func twice() throws {
    let twice = try fields(["Repr-Digest": "sha-256=:AQ==:", "repr-digest": "sha-256=:Ag==:"])
    #expect(
      IntegrityDigest.list(of: .representation, in: twice)
        == [IntegrityDigest(algorithm: .sha256, value: [2])])
  }

  @Test(
    "§5 Unknown and insecure algorithms are ignored",
    arguments: ["md5=:AQID:", "sha=:AQID:", "crc32c=:AQID:", "sha-384=:AQID:", "foo=?1"])
  func ignored(value: String) throws {
    #expect(try list(value) == [])
    #expect(try list(value + ", sha-256=:AQ==:") == [IntegrityDigest(algorithm: .sha256, value: [1])])
  }

  @Test(
    "RFC 9651 §4.2 What is no dictionary, and a member that is no byte sequence, states nothing",
    arguments: [
      "sha-256=AQID", "sha-256=\"AQID\"", "sha-256=:AQ", "sha-256=:A:", "sha-256=?1", "SHA-256=AQID", ",", "",
    ])
  func malformed(value: String) throws {
    #expect(try list(value) == [])
  }

  @Test("A field that is too long is not read")
  func long() throws {
    #expect(try list("sha-256=:AQ==:, a=\"\(String(repeating: "x", count: 8_192))\"") == [])
  }

  @Test("RFC 9651 §4.2.7 Padding may be left out")
  func padding() throws {
    #expect(try list("sha-256=:AQ:") == [IntegrityDigest(algorithm: .sha256, value: [1])])
  }
}
