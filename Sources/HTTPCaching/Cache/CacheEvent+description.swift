import HTTPCacheSemantics
import HTTPCacheStore

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
    case .storeFailed(let operation, let error): "the store failed to \(operation): \(error)"
    }
  }

  private static func text(_ reason: some Reason) -> String {
    reason.section.isEmpty ? reason.description : "\(reason) (\(reason.section))"
  }
}
