import Synchronization

/// Elements that were noted lately: hints, which may be forgotten at any time.
package final class BoundedSet<Element: Hashable & Sendable>: Sendable {
  private let limit: Int
  private let elements = Mutex<Set<Element>>([])

  /// - Parameter limit: the maximum number of elements.
  package init(limit: Int) { self.limit = limit }

  package func contains(_ element: Element) -> Bool { elements.withLock { $0.contains(element) } }

  /// Adds an element. Beyond the limit the others are forgotten.
  package func insert(_ element: Element) {
    elements.withLock { elements in
      if elements.count >= limit, !elements.contains(element) { elements.removeAll() }
      elements.insert(element)
    }
  }

  package func remove(_ element: Element) { _ = elements.withLock { $0.remove(element) } }
}
