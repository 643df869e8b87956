public import HTTPCacheSemantics
public import HTTPTypes

/// A response that is about to be stored, or a stored one about to be freshened (RFC 9111 §3.2), for a
/// `StoringHook` to look at and to change.
///
/// What follows for reuse is derived from the head as the hook leaves it. Some changes would make a
/// wrong answer and are ignored:
/// - of the status;
/// - of `Vary`, `No-Vary-Search` and a field that names a shared item, which say what the response is
///   found by;
/// - of `Content-Length`, `Content-Range`, `Content-Encoding` and `Transfer-Encoding`, which describe
///   the body as it is;
/// - of `Date` and `Age`, which say how old it is;
/// - of `ETag`, `Last-Modified`, `Repr-Digest`, `Content-Digest` and `Content-MD5`: they may be taken
///   out, but neither changed nor added.
///
/// A response that may not be stored with the changes, since they say `no-store` for example, is not
/// stored.
public struct ProposedRecord: Sendable {
  /// What the response is found by.
  public let key: CacheKey
  /// Status and fields as they would be stored.
  public var head: HTTPResponse
  /// Opaque bytes kept with the response and handed back with each answer from it; a record, head
  /// included, may have 1 MiB. Empty for a new response.
  public var userInfo: [UInt8]
  /// Where it may be stored. A response that lies in memory only stays there when it is freshened; one
  /// that lies on disk is removed if it may be in memory only.
  public var storagePolicy: StoragePolicy
  /// Keeps it from eviction; it still counts.
  public var isPinned: Bool
  /// Whether it is stored already and gets new fields from a 304, a 206 or an answer to HEAD.
  public let isFreshening: Bool

  /// Makes a proposal, as for a test of a hook.
  public init(
    key: CacheKey, head: HTTPResponse, userInfo: [UInt8] = [],
    storagePolicy: StoragePolicy = .allowed, isPinned: Bool = false, isFreshening: Bool = false
  ) {
    self.key = key
    self.head = head
    self.userInfo = userInfo
    self.storagePolicy = storagePolicy
    self.isPinned = isPinned
    self.isFreshening = isFreshening
  }
}
