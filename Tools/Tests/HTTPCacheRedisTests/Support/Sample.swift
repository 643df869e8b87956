import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes

/// Responses to publish.
enum Sample {
  static let secret = [UInt8](repeating: 7, count: 32)

  static func key(_ path: String = "/a", partition: String = "") -> CacheKey {
    StoreSample.key(path, mode: .shared, partition: partition)
  }

  /// A record with a `Date`.
  static func record(_ key: CacheKey, date: Int64 = 1_700_000_000, language: String? = nil) -> CacheRecord {
    var response = StoreSample.response(language: language)
    response.head.headerFields[.date] = Timestamp(seconds: date).httpDate
    return CacheRecord(key: key, response: response)
  }

  static func variant(
    _ key: CacheKey = key(), date: Int64 = 1_700_000_000, language: String? = nil,
    ticket: SharedPosition = .start, inline: [UInt8]? = Array("hello".utf8), body: SharedBody? = nil
  ) -> SharedVariant {
    SharedVariant(
      record: record(key, date: date, language: language), age: 1_500, published: 0, ticket: ticket,
      inlineBody: body == nil ? inline : nil, body: body)
  }

  static func publication(
    _ variant: SharedVariant, lifetime: Duration = .seconds(3_600), token: String? = nil,
    lockedKey: CacheKey? = nil
  ) -> SharedPublication {
    SharedPublication(variant: variant, lifetime: lifetime, token: token, lockedKey: lockedKey)
  }

  /// The bytes of a part of a body.
  static func part(_ number: Int, of body: SharedBody) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number + 1), count: body.size(ofPart: number))
  }
}
