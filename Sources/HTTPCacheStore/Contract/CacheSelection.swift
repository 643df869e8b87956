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
  /// Entries whose target URI starts with a prefix.
  case prefix(String)
  /// Entries of an origin, such as `https://example.com`, in one partition (W3C Clear Site Data).
  case site(origin: String, mode: CacheMode, partition: String)
  /// Entries of a group of an origin, such as `https://example.com` (RFC 9875).
  case group(origin: String, name: String)
  /// Entries stored or freshened at or after a time.
  case storedSince(Timestamp)
  /// Entries last used before a time.
  case unusedSince(Timestamp)
  /// Entries stored or freshened before a time.
  case storedBefore(Timestamp)
}
