import HTTPCacheSemantics
import HTTPCacheStore

/// Hides the generation of a store.
final class PlainStore: CacheStore, TierBase {
  private let base: any CacheStore & TierBase

  init(_ base: any CacheStore & TierBase) { self.base = base }

  func recordUses(_ uses: [KeyUses]) { base.recordUses(uses) }
  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    try base.variants(of: key)
  }

  func peek(_ key: CacheKey) -> PeekResult { base.peek(key) }
  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { try base.read(key) }

  func ticket() -> InvalidationTicket { base.ticket() }
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    base.isOvertaken(key, groups: groups, since: ticket)
  }

  func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    try await base.write(record, variantLimit: variantLimit)
  }

  func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    try await base.extend(record, at: offset)
  }

  func note(_ refusal: RefusalNote) { base.note(refusal) }
  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    try base.refusals(of: key)
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    try await base.update(record)
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try await base.remove(selection)
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    try await base.mark(selection, as: mark)
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
