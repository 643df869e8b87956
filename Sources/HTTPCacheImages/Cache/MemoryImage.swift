import HTTPCacheSemantics
import HTTPCacheStore

/// A decoded image in memory, and what tells that it is still the picture of its URL. A class, because a copy of a
/// struct would count a reference for each part of the record at each look-up.
final class MemoryImage: Sendable {
  let image: DecodedImage
  /// The hash of the bytes that it was decoded from.
  let digest: UInt64
  /// The stored response that it was decoded from; nil if unknown.
  let record: CacheRecord?
  /// Until when the response is fresh; nil if it has to be looked up at each use.
  let freshUntil: Timestamp?
  /// The state of the store when the response was last looked up.
  let mark: StoreMark

  init(image: DecodedImage, digest: UInt64, record: CacheRecord?, freshUntil: Timestamp?, mark: StoreMark) {
    self.image = image
    self.digest = digest
    self.record = record
    self.freshUntil = freshUntil
    self.mark = mark
  }

  /// The image after its response was looked up again.
  func confirmed(until freshUntil: Timestamp, mark: StoreMark) -> MemoryImage {
    MemoryImage(image: image, digest: digest, record: record, freshUntil: freshUntil, mark: mark)
  }
}
