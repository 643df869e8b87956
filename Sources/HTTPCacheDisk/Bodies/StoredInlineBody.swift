import HTTPCacheSemantics
import HTTPCacheStore

/// An inline body, read together with its row.
final class StoredInlineBody: StoredBody {
  private let body: MemoryBody
  private let checksum: UInt64
  private let onDamage: @Sendable (CacheError) -> Void

  init(
    bytes: BodyBytes, record: CacheRecord, checksum: UInt64,
    onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    body = MemoryBody(bytes, record: record)
    self.checksum = checksum
    self.onDamage = onDamage
  }

  func open() throws(CacheError) -> any BodyReader {
    guard body.bytes.withUnsafeBytes({ XXH64.hash($0) }) == checksum else {
      let error = CacheError(.damaged, "the body in the index is not what was written")
      onDamage(error)
      throw error
    }
    return body
  }
}
