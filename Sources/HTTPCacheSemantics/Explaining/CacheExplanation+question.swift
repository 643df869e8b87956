public import HTTPTypes

extension CacheExplanation {
  /// A stored response that an explanation looks at.
  public struct Candidate: Sendable {
    /// The stored response as the overrides let it be seen.
    public var response: StoredResponse
    /// The stored part of its body; nil if all of it is stored.
    public var part: StoredPart?
    /// The length of the complete body in bytes; nil if it is not known.
    public var length: Int64?

    /// Makes a candidate, of which by default the whole body is stored.
    public init(_ response: StoredResponse, part: StoredPart? = nil, length: Int64? = nil) {
      self.response = response
      self.part = part
      self.length = length
    }
  }

  /// The facts that decide about a request, besides itself and the stored responses.
  public struct Circumstances: Sendable {
    /// How the caller uses the cache.
    public var policy: CachePolicy
    /// The choices of the cache.
    public var rules: CacheRules
    /// The time of the decision.
    public var now: Timestamp
    /// Makes the digest of a secret value.
    public var digest: SecretDigest

    /// Makes the circumstances of a decision.
    public init(
      policy: CachePolicy = .standard, rules: CacheRules, now: Timestamp, digest: @escaping SecretDigest
    ) {
      self.policy = policy
      self.rules = rules
      self.now = now
      self.digest = digest
    }
  }

  /// The request that the origin would get.
  public struct Forward: Sendable {
    /// The request with the fields that the cache adds.
    public var request: HTTPRequest
    /// The index of the candidate that it completes; nil if it completes none.
    public var completing: Int?

    /// Makes the request that would be sent.
    public init(_ request: HTTPRequest, completing: Int? = nil) {
      self.request = request
      self.completing = completing
    }
  }
}
