import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The uses, counts and refusals of one store that are not in its index yet. One transaction writes them together.
final class ChangeBatch: Sendable {
  private let pending = Mutex(PendingChanges())

  /// Adds changes.
  ///
  /// - Returns: whether the caller must schedule writing the batch. True once until `didWrite` is called.
  func add(_ change: (inout PendingChanges) -> Void) -> Bool {
    pending.withLock { pending in
      change(&pending)
      return pending.shouldSchedule()
    }
  }

  /// Takes all changes, to write them.
  func take() -> PendingChanges { pending.withLock { $0.take() } }

  /// Puts changes back that could not be written. Newer changes win.
  func putBack(_ changes: PendingChanges) { pending.withLock { $0.putBack(changes) } }

  /// Notes that a scheduled job has written the batch, or failed.
  func didWrite() { pending.withLock { $0.isScheduled = false } }

  /// The refusals of a key that are not written, latest first.
  func refusals(of key: CacheKey) -> [RefusalNote] { pending.withLock { $0.refusals.of(key) } }

  /// Forgets all refusals that are not written.
  func forgetRefusals() { pending.withLock { $0.refusals = RecentRefusals(limit: 256) } }

  /// Forgets the uses of keys.
  func forgetUses() { pending.withLock { $0.touches = [:] } }
}
