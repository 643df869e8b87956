import HTTPCacheSemantics
public import HTTPCacheStore

/// One response that a tier keeps. The nominated fields of its record tell the variants of a key apart.
public struct SharedVariant: Sendable {
  /// The longest body that is kept with its record, in bytes.
  public static let longestInlineBody = 16 << 10

  /// The record, as the node that published the response stored it.
  public let record: CacheRecord
  /// The age of the response when it was published (RFC 9111 §4.2.3), in milliseconds.
  public let age: Int64
  /// The time of the server when the response was published, in milliseconds since 1970; 0 before.
  public let published: Int64
  /// The position in the log that the publishing node had reached before it sent its request.
  public let ticket: SharedPosition
  /// The bytes of a small body; nil if the body is in parts.
  public let inlineBody: [UInt8]?
  /// The body in parts; nil if it is inline.
  public let body: SharedBody?

  /// Makes a variant.
  public init(
    record: CacheRecord, age: Int64, published: Int64, ticket: SharedPosition, inlineBody: [UInt8]?,
    body: SharedBody?
  ) {
    self.record = record
    self.age = age
    self.published = published
    self.ticket = ticket
    self.inlineBody = inlineBody
    self.body = body
  }

  /// The length of the body in bytes.
  public var bodyLength: Int64 { body?.length ?? Int64(inlineBody?.count ?? 0) }

  /// Whether this variant stays, and another one of the same nominated fields is not published in its place: it has a
  /// later `Date` (RFC 9111 §4), and no change came between the two requests that the other one has seen and this one
  /// has not.
  ///
  /// - Parameter other: the variant that is about to be published.
  public func isMoreRecent(than other: SharedVariant) -> Bool {
    guard let own = record.response.dateField, let date = other.record.response.dateField else {
      return false
    }
    return own > date && ticket >= other.ticket
  }
}
