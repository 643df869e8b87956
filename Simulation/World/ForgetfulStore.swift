import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// A store that leaves out the second application of each change, for `FleetPlan.Mutation.appliesOnlyBefore`.
final class ForgetfulStore: CacheStore {
  private let base: MemoryStore
  private let tier: SimulatedTier

  init(_ base: MemoryStore, _ tier: SimulatedTier) {
    self.base = base
    self.tier = tier
  }

  func peek(_ key: CacheKey) -> PeekResult { base.peek(key) }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { try base.read(key) }

  func ticket() -> InvalidationTicket { base.ticket() }

  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    base.isOvertaken(key, groups: groups, since: ticket)
  }

  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    try await base.write(record, variantLimit: variantLimit)
  }

  func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter {
    try await base.extend(record, at: offset)
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool { try await base.update(record) }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    tier.skips(selection) ? 0 : try await base.remove(selection)
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    tier.skips(selection) ? 0 : try await base.mark(selection, as: mark)
  }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    try await base.entries(selection, after: cursor, limit: limit)
  }

  var usage: StoreUsage { base.usage }

  var isInMemoryOnly: Bool { true }

  var secret: [UInt8] { base.secret }
}
