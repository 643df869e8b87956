public import HTTPCacheSemantics

/// One entry of a listing.
public struct CacheEntry: Sendable {
  /// The record: everything except the body.
  public let record: CacheRecord
  /// Bytes of record and body.
  public let size: Int64
  /// When it was last used. A store on disk may be a minute behind.
  public let lastUsed: Timestamp
  /// The path of the file that holds exactly the body's bytes; nil if it is kept elsewhere.
  public let bodyPath: String?

  /// Makes an entry.
  public init(record: CacheRecord, size: Int64, lastUsed: Timestamp, bodyPath: String?) {
    self.record = record
    self.size = size
    self.lastUsed = lastUsed
    self.bodyPath = bodyPath
  }

  /// The entry with another record and path, for a store over another store.
  package func with(record: CacheRecord, bodyPath: String?) -> CacheEntry {
    CacheEntry(record: record, size: size, lastUsed: lastUsed, bodyPath: bodyPath)
  }
}
