/// The key of a stored response: partition, method class and normalised target (RFC 9111 §2).
public struct CacheKey: Sendable, Hashable {
  /// Methods whose responses answer each other's requests.
  public enum MethodClass: UInt8, Sendable, Hashable, CaseIterable {
    /// GET and HEAD (RFC 9110 §9.3.1, §9.3.2).
    case get = 0
    /// QUERY, with its content in the key (RFC 10008).
    case query = 1
    /// Not for a response, but for the rule that makes the keys of a path's queries
    /// (draft-ietf-httpbis-no-vary-search §7).
    case searchRule = 2
    /// Not for a response, but for the name of the cache item that holds the target's response (`CacheAlias`).
    case pointer = 3
  }

  /// The mode. Private and shared entries are invisible to each other.
  public let mode: CacheMode
  /// Separates accounts or sites (RFC 9111 §7.2); empty for responses that all callers share.
  public let partition: String
  /// Methods whose responses answer each other's requests.
  public let methodClass: MethodClass
  /// The normalised target URI, without fragment and user information.
  public let target: String
  /// For QUERY, a digest of content and metadata; else empty.
  public let contentDigest: [UInt8]
  /// A hash of these properties under a secret of this process, so that a client cannot choose targets with
  /// equal hashes. Only valid in this process: a store that several processes share uses `hash(under:)`.
  package let processHash: UInt64

  /// Makes a key from parts; `target` must be normalised already (`TargetURI.normalized`).
  public init(
    mode: CacheMode, partition: String = "", methodClass: MethodClass = .get, target: String,
    contentDigest: [UInt8] = []
  ) {
    self.mode = mode
    self.partition = partition
    self.methodClass = methodClass
    self.target = target
    self.contentDigest = contentDigest
    processHash = Self.hash(
      mode, partition, methodClass, target, contentDigest, under: Self.processSecret)
  }

  /// This key with a digest of content and metadata.
  public func with(contentDigest: [UInt8]) -> CacheKey {
    CacheKey(
      mode: mode, partition: partition, methodClass: methodClass, target: target,
      contentDigest: contentDigest)
  }

  /// This key with another target, which must be normalised already.
  public func with(target: String) -> CacheKey {
    CacheKey(
      mode: mode, partition: partition, methodClass: methodClass, target: target,
      contentDigest: contentDigest)
  }

  /// The key of the rule that makes the keys of this path's queries.
  public var searchRule: CacheKey {
    CacheKey(
      mode: mode, partition: partition, methodClass: .searchRule,
      target: SearchVariance.path(of: target))
  }

  /// The key of the name of the cache item that holds this target's responses.
  public var pointer: CacheKey {
    CacheKey(mode: mode, partition: partition, methodClass: .pointer, target: target)
  }

  /// Compares the hash first.
  public static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
    lhs.processHash == rhs.processHash && lhs.target == rhs.target && lhs.mode == rhs.mode
      && lhs.methodClass == rhs.methodClass && lhs.partition == rhs.partition
      && lhs.contentDigest == rhs.contentDigest
  }

  /// Uses the hash computed before.
  public func hash(into hasher: inout Hasher) { hasher.combine(processHash) }
}
