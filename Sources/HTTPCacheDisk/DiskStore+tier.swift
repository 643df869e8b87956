public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore: TierBase {
  /// Counts a use that a tier above answered; written with the next batch.
  public func recordUse(of key: CacheKey) {
    policy.withLock { $0.recordUse(hash: key.hash) }
    touch(key.hash)
  }
}
