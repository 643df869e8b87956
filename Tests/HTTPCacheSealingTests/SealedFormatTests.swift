import Foundation
import HTTPCacheSealing
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Synchronization
import Testing

/// The format that `docs/encryption.md` describes, with data made by another program: later versions must
/// still read it.
@Suite(.timeLimit(.minutes(10))) struct SealedFormatTests {
  // Key: bytes 0 to 31; secret: 32 times 0x53; nonces: bytes 0 to 11; body: bytes 0x40 to 0x4F.
  private static let target = "sealed-Pwe7SzDQb7I://u3HgTKss6FF0-308MlioGg/l5A0Mlptyi4hLUbASno-6g"
  private static let partition = "sealed-H5PVbalcfply4YPR4X3lgQ"
  private static let groups = ["vGK2Po1HuX1zaKWyD4OTFQ", "qjKqGVQxe8KKsCst4Z0GVg"]
  private static let content: [UInt8] = [
    0x55, 0x4C, 0x00, 0xC9, 0x75, 0x99, 0x9F, 0xC5, 0x53, 0x13, 0x3E, 0x22, 0xC6, 0x25, 0xDC, 0x63,
  ]
  private static let nominated: [UInt8] = [
    0xA4, 0xE2, 0xB4, 0xC8, 0x6F, 0x91, 0x7E, 0x08, 0x2F, 0x34, 0x22, 0x3A, 0x3D, 0xB5, 0xB3, 0x6C,
  ]
  private static let record =
    "AAECAwQFBgcICQoLcwoWmXWLNglQRdDFxRjutrY4yj4v38lQyCjc0lAwJmUOabY-I5oKNfwfigKSyznZ"
    + "5YW7cnIduzBmg92uM7iw_LK4FsV-quO07GP_v_-NU3cahdpm3R5E8qWelztsHgRX3Xlv6y2JB89QMS7U"
    + "7lyqSWa55iFz9waAOqoKWnYLe-i47zGkIxKUcRj6CAcrpAtxS5MdRkTqqtyUWA9mYJhqBhvwePa8jBNU"
    + "39oK0FWbGHl-RnfZ_WHRxccN0f1jcRcRjCilWCUxx97OlgAEIOb3MduPTUf2t8YZrRayQwq1wx2TwkiR"
    + "VhmcmYP5hSh-2uT6ZbgO9n3HvNmFxMbm_kJ0vao4Nvq29NrSPRo0WQh5HyhAwGlUAISdeKeMLK3EDqwB"
    + "R0_1e3FIA7A8I6UflLw"
  private static let completion = "AAECAwQFBgcICQoLcwtc2TOEEzhzAeHp_PD-HJJJvCY7TLY1AAMEj30"
  private static let chunk = "AAECAwQFBgcICQoLvB7D0nN8YKZdrOubGg7y5z8Bcckx"

  private static func bytes(_ text: String) throws -> [UInt8] {
    var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    return Array(try #require(Data(base64Encoded: text)))
  }

  private let base = MemoryStore(capacity: 1 << 20, secret: [UInt8](repeating: 0x53, count: 32))
  private let key = CacheKey(
    mode: .shared, partition: "account-ü", methodClass: .query, target: "https://example.com/a?q=1",
    contentDigest: [0xDE, 0xAD])

  private func store() async throws -> SealedStore {
    let sealed = HTTPField.Name("Sealed")
    var response = StoredResponse(
      requestMethod: .get,
      nominated: [NominatedField(name: .vary, value: .digest(Self.nominated))],
      head: HTTPResponse(status: .ok), requestTime: StoreSample.start, responseTime: StoreSample.start,
      facts: ReuseFacts(freshnessLifetime: 0, lifetimeSource: .none, correctedInitialAge: 0))
    response.trailers = [try #require(sealed): Self.completion]
    let record = CacheRecord(
      key: CacheKey(
        mode: .shared, partition: Self.partition, methodClass: .query, target: Self.target,
        contentDigest: Self.content),
      response: response, bodyLength: 33, groups: Self.groups, userInfo: try Self.bytes(Self.record),
      isPinned: true)
    try await base.store(record, BodyBytes(try Self.bytes(Self.chunk)))
    return try SealedStore(
      base: base, cipher: try SealedDirectory.cipher(of: base.secret))
  }

  @Test("what another program sealed is found by its key, and opens")
  func opens() async throws {
    let store = try await store()
    let found = try #require(try store.read(key).first)
    #expect(found.record.key == key)
    #expect(found.record.response.head.status.code == 203)
    #expect(found.record.response.nominated.map(\.name.rawName) == ["Accept-Language", "cookie", "x-none"])
    #expect(found.record.response.isInvalidated)
    #expect(found.record.groups == ["news", "sport"])
    #expect(found.record.userInfo == [0, 255, 1])
    #expect(found.record.bodyLength == 5)
    #expect(found.record.isComplete)
    let late = HTTPField.Name("Late")
    #expect(found.record.response.trailers[try #require(late)] == "yes")
    #expect(try await found.body.open().readAll() == Array("hello".utf8))
  }

  @Test(
    "it is found by target, partition, group and origin as well",
    arguments: [
      CacheSelection.target("https://example.com/a?q=1"), .partition(mode: .shared, "account-ü"),
      .group(origin: "https://example.com", name: "news"), .prefix("https://example.com/"),
      .prefix("https://example.com/a"), .prefix("https://exa"), .prefix(""), .all,
    ])
  func isSelected(_ selection: CacheSelection) async throws {
    let store = try await store()
    #expect(try await store.entries(selection, after: nil, limit: 9).entries.map(\.record.key) == [key])
    // Prefixes within an origin cannot be told apart, and the marked entries are not counted.
    let isExact = ![.prefix("https://example.com/a"), .prefix("https://exa")].contains(selection)
    #expect(try await store.invalidate(selection) == (isExact ? 1 : nil))
    #expect(try store.read(key).first?.record.response.isInvalidated == true)
    #expect(try await store.remove(selection) == 1)
  }

  @Test("a body of more chunks has a slot of 64 KiB for each but the last")
  func slots() {
    #expect(SealedStore.sealedLength(of: 0) == 28)
    #expect(SealedStore.sealedLength(of: 65_508) == 65_536)
    #expect(SealedStore.sealedLength(of: 65_509) == 65_536 + 29)
    #expect(SealedStore.sealedLength(of: 200_000) == 200_000 + 4 * 28)
  }
}
