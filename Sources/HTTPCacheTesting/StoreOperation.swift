/// An operation that a `FaultyStore` can make fail.
public enum StoreOperation: String, Sendable, Hashable, CaseIterable {
  /// `CacheStore.read`.
  case read
  /// `CacheStore.write`.
  case write
  /// `CacheStore.extend`.
  case extend
  /// `BodyWriter.append`.
  case append
  /// `BodyWriter.commit`; the writer below is abandoned.
  case commit
  /// `BodyWriter.keep`; the writer below is abandoned.
  case keep
  /// `BodyWriter.reader`.
  case reader
  /// `CacheStore.update`.
  case update
  /// `CacheStore.remove` and `CacheStore.wipe`.
  case remove
  /// `CacheStore.invalidate`.
  case invalidate
  /// `CacheStore.entries`.
  case entries
  /// `StoredBody.open`.
  case open
  /// `BodyReader.read`.
  case readBody
  /// `BodyReader.clone`.
  case clone
}
