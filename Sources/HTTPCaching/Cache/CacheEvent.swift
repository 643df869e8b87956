public import HTTPCacheSemantics
public import HTTPCacheStore

/// An event that a `CacheObserver` receives.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum CacheEvent: Sendable {
  /// A request was answered.
  case answered(target: String, CacheOutcome)
  /// A response was stored; the length of its body in bytes.
  case stored(CacheKey, bytes: Int64)
  /// A response broke off, and its first bytes were kept to be continued later (RFC 9111 §3.3); the number of
  /// bytes kept.
  case kept(CacheKey, bytes: Int64)
  /// A response was not stored.
  case notStored(target: String, StorageRefusal)
  /// A `willStore` hook gave no decision, so the response was not stored.
  case hookFailed(target: String, HookFailure)
  /// A stored response was removed, because it may no longer be stored, its resource is gone, or a caller
  /// removed what is stored for a request.
  case removed(CacheKey, RemovalReason)
  /// A stored response was freshened (RFC 9111 §4.3.4).
  case freshened(CacheKey)
  /// Stored responses were invalidated (RFC 9111 §4.4).
  case invalidated(target: String)
  /// A caller removed the entries that match; their number (`HTTPCache.remove(_:)`, `removeAll()`).
  case selectionRemoved(CacheSelection, count: Int)
  /// A caller invalidated the entries that match; their number, nil if the store does not count
  /// (`HTTPCache.invalidate(_:)`).
  case selectionInvalidated(CacheSelection, count: Int?)
  /// Everything stored of an origin in a partition was removed (W3C Clear Site Data).
  case siteCleared(origin: String, partition: String)
  /// All responses of a partition were removed and can no longer be stored by running requests; their number.
  case wiped(partition: String, count: Int)
  /// The origin failed.
  case upstreamFailed(target: String, UpstreamError)
  /// The origin was not asked, because the cache is offline.
  case notAsked(target: String, OfflineReason)
  /// Background validation began (RFC 5861 §3).
  case validatingInBackground(CacheKey)
  /// Something was found about the directory's encryption when it was opened.
  case encryption(EncryptionNotice)
  /// The directory was opened with another capacity than it had; bytes. What is in use beyond the new one is
  /// evicted.
  case capacityChanged(from: Int64, to: Int64, usage: Int64)
  /// The store failed; the request went on without it.
  case storeFailed(operation: String, CacheError)
}
