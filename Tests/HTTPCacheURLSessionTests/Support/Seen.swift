import Synchronization

/// What happened, in order.
final class Seen<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  func add(_ element: Element) { list.withLock { $0.append(element) } }

  var all: [Element] { list.withLock { $0 } }
}
