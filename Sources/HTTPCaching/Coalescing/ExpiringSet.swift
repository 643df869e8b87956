/// The elements that were inserted within a time. A set that is full of them begins anew.
struct ExpiringSet<Element: Hashable & Sendable>: Sendable {
  private static var limit: Int { 4_096 }

  private let lifetime: Duration
  private var ends: [Element: Duration] = [:]

  init(lifetime: Duration) { self.lifetime = lifetime }

  mutating func contains(_ element: Element, uptime: Duration) -> Bool {
    guard let end = ends[element] else { return false }
    if uptime < end { return true }
    ends[element] = nil
    return false
  }

  mutating func insert(_ element: Element, uptime: Duration) {
    if ends.count >= Self.limit { ends = ends.filter { $0.value > uptime } }
    if ends.count >= Self.limit { ends.removeAll() }
    ends[element] = uptime + lifetime
  }

  mutating func remove(_ element: Element) { ends[element] = nil }
}
