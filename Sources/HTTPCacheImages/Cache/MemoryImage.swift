import HTTPCacheSemantics
import HTTPCacheStore

/// A decoded image in memory, and what tells that it is still the picture of its URL.
struct MemoryImage: Sendable {
  let image: DecodedImage
  /// The hash of the bytes that it was decoded from.
  let digest: UInt64
  /// The stored response that it was decoded from; nil if unknown.
  var record: CacheRecord?
  /// Until when the response is fresh; nil if it has to be looked up at each use.
  var freshUntil: Timestamp?
  /// The state of the store when the response was last looked up.
  var mark: StoreMark
}
