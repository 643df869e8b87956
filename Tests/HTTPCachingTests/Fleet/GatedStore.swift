import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching

/// A store whose removals wait, until their task is cancelled, while a test says so.
final class GatedStore: CacheStore {
  let base: any CacheStore
  let gate = Gate()
  private let isHolding = WatchedState(false)

  init(_ base: any CacheStore) { self.base = base }

  var holdsRemovals: Bool {
    get { isHolding.withLock { $0 } }
    set { isHolding.withLock { $0 = newValue } }
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if holdsRemovals { try? await gate.pass() }
    return try await base.remove(selection)
  }

  func peek(_ key: CacheKey) -> PeekResult { base.peek(key) }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { try base.read(key) }

  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    try await base.write(record, variantLimit: variantLimit)
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool { try await base.update(record) }

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

  func ticket() -> InvalidationTicket { base.ticket() }

  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    base.isOvertaken(key, groups: groups, since: ticket)
  }

  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { try base.refusals(of: key) }

  func counts() async throws(CacheError) -> CacheCounts { try await base.counts() }

  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    try await base.setCapacity(memory: memory, disk: disk)
  }

  var usage: StoreUsage { base.usage }

  var secret: [UInt8] { base.secret }
}
