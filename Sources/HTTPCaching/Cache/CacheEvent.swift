public import HTTPCacheSemantics
public import HTTPCacheStore

/// An event that a `CacheObserver` receives.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum CacheEvent: Sendable {
  /// A request was answered.
  case answered(target: String, CacheOutcome)
  /// A response was stored; the length of its body in bytes, of a part as far as it is stored.
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
  /// A caller let the entries that match become stale; their number, nil if the store does not count
  /// (`HTTPCache.expire(_:)`).
  case selectionExpired(CacheSelection, count: Int?)
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
  /// Something happened between the cache and the tier that it shares with other nodes.
  case fleet(FleetEvent)
  /// The store failed; the request went on without it.
  case storeFailed(operation: String, CacheError)

  /// Whether it is a `storeFailed` of one entry, which was evicted, replaced or damaged meanwhile and could not be used or
  /// completed. The store itself works, and the response comes from the origin.
  public var isOfOneEntry: Bool {
    guard case .storeFailed(let operation, let error) = self else { return false }
    return ["open body", "read body", "extend", "store"].contains(operation)
      && [.damaged, .unavailable, .superseded, .wiped].contains(error.code)
  }
}

extension CacheEvent: CustomStringConvertible {
  /// One line for people: the target, and what happened.
  public var description: String {
    switch self {
    case .answered(let target, let outcome): "\(target): \(outcome)"
    case .stored(let key, let bytes): "\(key.target): stored, \(bytes) bytes"
    case .kept(let key, let bytes):
      "\(key.target): broke off, \(bytes) bytes kept to be continued"
    case .notStored(let target, let refusal): "\(target): not stored: \(Self.text(refusal))"
    case .hookFailed(let target, let failure): "\(target): willStore \(failure)"
    case .removed(let key, let reason): "\(key.target): removed: \(reason)"
    case .freshened(let key): "\(key.target): freshened"
    case .invalidated(let target): "\(target): invalidated"
    case .selectionRemoved(let selection, let count): "\(selection.text): \(count) removed"
    case .selectionInvalidated(let selection, let count):
      "\(selection.text): " + (count.map { "\($0) invalidated" } ?? "invalidated")
    case .selectionExpired(let selection, let count):
      "\(selection.text): " + (count.map { "\($0) expired" } ?? "expired")
    case .siteCleared(let origin, let partition):
      partition.isEmpty
        ? "\(origin): all that was stored is removed"
        : "\(origin): all that was stored in partition \(partition) is removed"
    case .wiped(let partition, let count):
      "partition \(partition.isEmpty ? "without a name" : partition): wiped, \(count) removed"
    case .upstreamFailed(let target, let error): "\(target): the origin failed: \(error)"
    case .notAsked(let target, let reason): "\(target): the origin was not asked: \(reason)"
    case .validatingInBackground(let key): "\(key.target): validating in the background"
    case .encryption(let notice): notice.description
    case .capacityChanged(let old, let new, let usage):
      "the capacity of the directory is now \(new) bytes, \(old) before"
        + (usage > new ? "; \(usage - new) bytes are evicted" : "")
    case .fleet(let event): event.description
    case .storeFailed(let operation, let error): "the store failed to \(operation): \(error)"
    }
  }

  private static func text(_ reason: some Reason) -> String {
    reason.section.isEmpty ? reason.description : "\(reason) (\(reason.section))"
  }
}

/// Why a stored response was removed.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum RemovalReason: Sendable, Hashable, CustomStringConvertible {
  /// It may no longer be stored; found when it was about to be freshened.
  case refused(StorageRefusal)
  /// The origin answered with this status, 404 or 410: the resource is gone (`CacheRules.removesGone`).
  case gone(status: Int)
  /// A caller removed everything stored for a request.
  case requested

  /// A few words for people.
  public var description: String {
    switch self {
    case .refused(let refusal): refusal.description
    case .gone(let status): "the origin answered \(status)"
    case .requested: "a caller asked for it"
    }
  }
}

/// Receives the cache's events. Called on the thread on which the event happens; must return quickly.
public protocol CacheObserver: Sendable {
  /// Called for each event.
  func observe(_ event: CacheEvent)
}

extension CacheSelection {
  /// A few words for people, as in a log.
  package var text: String {
    switch self {
    case .all: "all entries"
    case .partition(_, let name): "partition \(name.isEmpty ? "without a name" : name)"
    case .key(let key), .variant(let key, _): key.target
    case .target(let target): target
    case .prefix(let prefix): "\(prefix)*"
    case .site(let origin, _, _): origin
    case .group(let origin, let name): "\(origin) group \(name)"
    case .storedSince(let time): "entries stored since \(time.httpDate)"
    case .unusedSince(let time): "entries unused since \(time.httpDate)"
    case .storedBefore(let time): "entries stored before \(time.httpDate)"
    }
  }
}
