public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

/// A fresh response in memory, as an answer that a server can send to many equal requests.
///
/// Two requests are equal if both are GET or both HEAD, without content, and have equal targets, partitions, values of
/// `nominatedFields`, and of the fields that direct, condition or limit the answer: `Cache-Control`, `Pragma`,
/// `If-None-Match`, `If-Modified-Since`, `If-Match`, `If-Unmodified-Since`, `Range` and `If-Range`, and both or neither
/// have `Cookie`. The server makes the bytes of its answer once, and calls `HTTPCache.use(_:)` before it sends them again.
public struct MemoryHit: Sendable {
  /// Status and fields, with `Age` and, if configured, `Cache-Status`.
  public let head: HTTPResponse
  /// The body: empty for a 304 and for a HEAD, a part of the stored body for a 206.
  public let body: BodyBytes
  /// Where the response came from, and why.
  public let outcome: CacheOutcome
  /// The request fields by which a response to this target is selected (RFC 9111 §4.1).
  public let nominatedFields: Set<HTTPField.Name>
  /// The second for which `head` was made.
  public let time: Timestamp

  let key: CacheKey
  let target: String
  /// The records of all variants. A change of any of them makes a new record.
  let records: [CacheRecord]
  /// Nil if each use is a look-up.
  let uses: RepeatedUses?
}
