public import HTTPCacheSemantics

/// The entries that an operation applies to.
public enum CacheSelection: Sendable, Hashable {
  /// Every entry.
  case all
  /// Every entry of one partition.
  case partition(mode: CacheMode, String)
  /// All variants of a key.
  case key(CacheKey)
  /// One variant of a key, unless it was replaced.
  case variant(CacheKey, sequence: UInt64)
  /// All entries of a target URI, in all partitions and for all methods.
  case target(String)
  /// Entries whose target URI starts with the text of a prefix: `https://example.com/r` also selects
  /// `https://example.com/rx`, and `https://example.com/r/` does not. The host is always a whole one: a prefix
  /// without a path has the path `/`.
  case prefix(String)
  /// Entries of an origin, such as `https://example.com`, in one partition (W3C Clear Site Data).
  case site(origin: String, mode: CacheMode, partition: String)
  /// Entries of a group of an origin, such as `https://example.com` (RFC 9875). The name is without the quotes that it
  /// has in `Cache-Groups`.
  case group(origin: String, name: String)
  /// Entries stored or freshened at or after a time.
  case storedSince(Timestamp)
  /// Entries last used before a time.
  case unusedSince(Timestamp)
  /// Entries stored or freshened before a time.
  case storedBefore(Timestamp)
}

extension CacheSelection {
  /// Whether the selection includes an entry. For stores that check entries one by one.
  ///
  /// - Parameters:
  ///   - record: the entry's record; its response time is when it was stored or freshened.
  ///   - lastUsed: when the entry was last used.
  public func matches(_ record: CacheRecord, lastUsed: Timestamp) -> Bool {
    switch self {
    case .all: true
    case .partition(let mode, let name): record.key.mode == mode && record.key.partition == name
    case .key(let key): record.key == key
    case .variant(let key, let sequence): record.key == key && record.sequence == sequence
    case .target(let target): record.key.target == target
    case .prefix(let prefix): record.key.target.utf8.starts(with: prefix.utf8)
    case .site(let origin, let mode, let partition):
      record.key.mode == mode && record.key.partition == partition && record.key.origin == origin
    case .group(let origin, let name):
      record.groups.contains(name) && record.key.origin == origin
    case .storedSince(let time): record.response.responseTime >= time
    case .storedBefore(let time): record.response.responseTime < time
    case .unusedSince(let time): lastUsed < time
    }
  }

  /// The selection with its prefix, or its target, as keys have it.
  ///
  /// - Throws: `CacheError` with `invalidRequest` for a prefix or a target that is no absolute `http` or `https` URL,
  ///   which would select nothing.
  package func checked() throws(CacheError) -> CacheSelection {
    switch self {
    case .prefix(let url):
      guard let prefix = TargetURI.normalized(url) else {
        throw CacheError(.invalidRequest, "a prefix must be an absolute http or https URL: \(url)")
      }
      return .prefix(prefix)
    case .target(let url):
      guard let target = TargetURI.normalized(url) else {
        throw CacheError(.invalidRequest, "not an absolute URL: \(url)")
      }
      return .target(target)
    case .all, .partition, .key, .variant, .site, .group, .storedSince, .unusedSince, .storedBefore:
      return self
    }
  }

  /// The key, if the selection includes only variants of that key; else nil.
  public var key: CacheKey? {
    switch self {
    case .key(let key), .variant(let key, _): key
    case .all, .partition, .target, .prefix, .site, .group, .storedSince, .storedBefore, .unusedSince: nil
    }
  }
}
