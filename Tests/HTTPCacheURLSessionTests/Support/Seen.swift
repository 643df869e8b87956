import Synchronization

/// Events in the order in which they happened.
final class Seen<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  func add(_ element: Element) { list.withLock { $0.append(element) } }

  var all: [Element] { list.withLock { $0 } }
  var count: Int { all.count }
  var last: Element? { all.last }
}
