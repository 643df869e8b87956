public import HTTPCacheSemantics
public import HTTPCacheStore

/// What an observer is told.
public enum CacheEvent: Sendable {
  /// A request was answered.
  case answered(target: String, CacheOutcome)
  /// A response was stored; its body's length in bytes.
  case stored(CacheKey, bytes: Int64)
  /// A response broke off, and what arrived was kept, to be continued (RFC 9111 §3.3); the number of
  /// bytes stored of it.
  case kept(CacheKey, bytes: Int64)
  /// A response was not stored.
  case notStored(target: String, StorageRefusal)
  /// A `willStore` hook gave no decision, so the response was not stored.
  case hookFailed(target: String, HookFailure)
  /// A stored response was removed, since it may not be stored any more or the resource is gone.
  case removed(CacheKey, RemovalReason)
  /// A stored response was freshened (RFC 9111 §4.3.4).
  case freshened(CacheKey)
  /// Stored responses were invalidated (RFC 9111 §4.4).
  case invalidated(target: String)
  /// Everything stored of an origin in a partition was removed (W3C Clear Site Data).
  case siteCleared(origin: String, partition: String)
  /// Everything stored of a partition was removed, for good; the number of responses.
  case wiped(partition: String, count: Int)
  /// The origin failed.
  case upstreamFailed(target: String, UpstreamError)
  /// The origin was not asked: the cache is offline.
  case notAsked(target: String, OfflineReason)
  /// Background validation began (RFC 5861 §3).
  case validatingInBackground(CacheKey)
  /// The directory was opened, and something was found about its encryption.
  case encryption(EncryptionNotice)
  /// The directory was opened with another capacity than it had; bytes. What is in use beyond the new one is
  /// evicted.
  case capacityChanged(from: Int64, to: Int64, usage: Int64)
  /// The store failed; the request went on without it.
  case storeFailed(operation: String, CacheError)
}
