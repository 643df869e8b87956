import Synchronization

/// Objects that live as long as a cache, such as the sessions that a configuration of Foundation's loads through it.
///
/// They may hold the cache's `attachedFace`, never the cache itself: it would then never be freed.
package final class Attachments: Sendable {
  private let objects = Mutex<[any AnyObject & Sendable]>([])

  /// Keeps an object.
  package func add(_ object: any AnyObject & Sendable) { objects.withLock { $0.append(object) } }

  /// Keeps an object no longer.
  package func remove(_ object: any AnyObject & Sendable) {
    // Released outside of the lock.
    _ = objects.withLock { objects in
      objects.firstIndex { $0 === object }.map { objects.remove(at: $0) }
    }
  }
}
