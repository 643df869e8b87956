public import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

/// What a request was answered with.
public struct CacheResponse: Sendable {
  /// Status and fields, with `Age` and, if configured, `Cache-Status`.
  public var head: HTTPResponse
  /// The body. When its end is reached, a response that was to be stored is stored.
  public var body: MessageBody
  /// Where it came from, and why.
  public var outcome: CacheOutcome
  /// The URI it came from, after redirects.
  public var finalTarget: String
  /// The outcomes of the redirects on the way, first to last.
  public var redirects: [CacheOutcome]

  /// How its content compares with what was stored for the request before.
  public var contentChange: ContentChange
  /// What a `StoringHook` kept with the stored response that answered; empty for an answer from the
  /// origin.
  public var userInfo: [UInt8]
  /// When the stored response that answered came from the origin, or was last confirmed by it; nil for
  /// an answer straight from the origin.
  public var storedAt: Timestamp?
  /// Whether it was answered with what may be in memory only.
  let isMemoryOnly: Bool
  /// The record of the stored response that answered; nil for an answer straight from the origin.
  var record: CacheRecord?
  /// The record of the stored response that `contentChange` compares with.
  var comparedRecord: CacheRecord?

  /// Makes a response.
  public init(
    head: HTTPResponse, body: MessageBody, outcome: CacheOutcome, finalTarget: String,
    redirects: [CacheOutcome] = [], contentChange: ContentChange = .unknown, userInfo: [UInt8] = [],
    storedAt: Timestamp? = nil
  ) {
    self.init(
      head: head, body: body, outcome: outcome, finalTarget: finalTarget, redirects: redirects,
      contentChange: contentChange, userInfo: userInfo, storedAt: storedAt, isMemoryOnly: false)
  }

  init(
    head: HTTPResponse, body: MessageBody, outcome: CacheOutcome, finalTarget: String,
    redirects: [CacheOutcome] = [], contentChange: ContentChange, userInfo: [UInt8],
    storedAt: Timestamp?, isMemoryOnly: Bool
  ) {
    self.head = head
    self.body = body
    self.outcome = outcome
    self.finalTarget = finalTarget
    self.redirects = redirects
    self.contentChange = contentChange
    self.userInfo = userInfo
    self.storedAt = storedAt
    self.isMemoryOnly = isMemoryOnly
  }
}
