import HTTPCacheSemantics
import HTTPCacheStore

extension HTTPCache {
  /// The store failed to invalidate or to remove: tells the observer, and remembers the change, so that the
  /// responses that it selects are not reused without validation (RFC 9111 §4.4).
  func changeFailed(
    _ selection: CacheSelection, removes: Bool, operation: String, _ error: CacheError
  ) {
    failedChanges.insert(selection, removes: removes, at: configuration.clock.now)
    observe(.storeFailed(operation: operation, error))
  }

  /// Retries failed changes, at most once a second; called before a request reads or changes the store.
  func retryFailedChanges() async {
    let changes = failedChanges.beginRetry(uptime: configuration.clock.uptime)
    if changes.isEmpty { return }
    var done: [FailedChanges.Change] = []
    do throws(CacheError) {
      for change in changes {
        if change.removes {
          let count = try await store.remove(change.selection)
          observe(.selectionRemoved(change.selection, count: count))
        } else {
          let count = try await store.invalidate(change.selection)
          observe(.selectionInvalidated(change.selection, count: count))
        }
        done.append(change)
      }
    } catch {
      observe(.storeFailed(operation: "invalidate again", error))
    }
    failedChanges.endRetry(done: done, uptime: configuration.clock.uptime)
  }
}
