import HTTPCacheStore
import HTTPCaching

/// The state of a store's changes. While it is the same, no response was stored, invalidated or removed.
struct StoreMark: Hashable {
  private let source: UInt64
  private let number: UInt64
  private let seen: UInt64

  init(_ cache: HTTPCache) {
    let ticket = cache.store.ticket()
    source = ticket.source
    number = ticket.number
    seen = ticket.seen
  }
}
