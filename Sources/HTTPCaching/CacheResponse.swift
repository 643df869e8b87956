public import HTTPCacheSemantics
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

  /// Makes a response.
  public init(
    head: HTTPResponse, body: MessageBody, outcome: CacheOutcome, finalTarget: String,
    redirects: [CacheOutcome] = []
  ) {
    self.head = head
    self.body = body
    self.outcome = outcome
    self.finalTarget = finalTarget
    self.redirects = redirects
  }
}
