public import HTTPCacheSemantics
package import HTTPCacheStore
public import HTTPTypes

/// The answer to a request.
public struct CacheResponse: Sendable {
  /// Status and fields, with `Age` and, if configured, `Cache-Status`.
  public var head: HTTPResponse
  /// The body. A response that is being stored is stored once its end has been read.
  public var body: MessageBody
  /// Where the response came from, and why.
  public var outcome: CacheOutcome
  /// The URI of the response, after redirects.
  public var finalTarget: String
  /// The outcomes of the redirects that were followed, first to last.
  public var redirects: [CacheOutcome]

  /// How the content compares with the response stored for the request before.
  public var contentChange: ContentChange
  /// The bytes that a `StoringHook` kept with the stored response; without any, the property list with the `userInfo`
  /// that the response was stored with in an `HTTPURLCache`. Empty for an answer from the origin.
  public var userInfo: [UInt8]
  /// When the stored response was received from the origin or last confirmed by it; nil for an answer from the
  /// origin.
  public var storedAt: Timestamp?
  /// The record of the stored response that this answer came from; nil for an answer from the origin.
  package var record: CacheRecord?
  /// Set if the head was not made for this request alone: answers with this same object and equal outcomes have
  /// equal heads, so that a door can use again what it made of one.
  package var headOwner: (any AnyObject & Sendable)?
  /// The record of the stored response that `contentChange` compares with.
  var comparedRecord: CacheRecord?

  /// Makes a response.
  public init(
    head: HTTPResponse, body: MessageBody, outcome: CacheOutcome, finalTarget: String,
    redirects: [CacheOutcome] = [], contentChange: ContentChange = .unknown, userInfo: [UInt8] = [],
    storedAt: Timestamp? = nil
  ) {
    self.head = head
    self.body = body
    self.outcome = outcome
    self.finalTarget = finalTarget
    self.redirects = redirects
    self.contentChange = contentChange
    self.userInfo = userInfo
    self.storedAt = storedAt
  }
}

extension CacheResponse {
  /// Whether this answer came from the stored response of a record, freshened or not.
  package func isOf(_ record: CacheRecord) -> Bool { StoredThenNew.areSame(self.record, record) }
}

extension CacheResponse {
  /// Whether the answer came from content that ships with the program (`HTTPCache.Configuration.seeds`), or from a
  /// copy of such content that the origin has confirmed. `storedAt` tells when the content was received from
  /// the origin, or last confirmed.
  public var isFromSeed: Bool { record?.isSeed ?? false }
}
