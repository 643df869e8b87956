import HTTPCaching
import Synchronization

/// A store in memory that keeps every note, in the order in which they came.
final class NotingStore: CacheStore {
  private let base: MemoryStore
  private let kept = Mutex([RefusalNote]())

  init(_ base: MemoryStore) { self.base = base }

  var notes: [RefusalNote] { kept.withLock { $0 } }

  func note(_ refusal: RefusalNote) { kept.withLock { $0.append(refusal) } }

  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    notes.filter { $0.keyHash == key.hash }.reversed()
  }

  func peek(_ key: CacheKey) -> PeekResult { base.peek(key) }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { try base.read(key) }

  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    try await base.write(record, variantLimit: variantLimit)
  }

  func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter {
    try await base.extend(record, at: offset)
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    try await base.update(record)
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try await base.remove(selection)
  }

  func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    try await base.invalidate(selection)
  }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    try await base.entries(selection, after: cursor, limit: limit)
  }

  var usage: StoreUsage { base.usage }
  var secret: [UInt8] { base.secret }
  func count(_ counts: CacheCounts) { base.count(counts) }
  func counts() async throws(CacheError) -> CacheCounts { try await base.counts() }
  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    try await base.setCapacity(memory: memory, disk: disk)
  }
  func flush() async { await base.flush() }
}
