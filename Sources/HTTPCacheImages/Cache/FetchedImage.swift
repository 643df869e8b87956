import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// The bytes of an image, and how long they may be used.
struct FetchedImage: Sendable {
  let bytes: BodyBytes
  let digest: UInt64
  let outcome: CacheOutcome
  /// The stored response; nil if unknown.
  let record: CacheRecord?
  /// Until when the response is fresh; nil if it has to be looked up at each use.
  let freshUntil: Timestamp?
  /// The state of the store when the response was looked up.
  let mark: StoreMark
  /// Whether the response may be kept beyond its use.
  let isKept: Bool
  let contentType: String?

  func entry(_ image: DecodedImage) -> MemoryImage {
    MemoryImage(image: image, digest: digest, record: record, freshUntil: freshUntil, mark: mark)
  }
}

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
