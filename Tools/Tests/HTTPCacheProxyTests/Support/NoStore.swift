import HTTPCacheStore
import HTTPCaching

/// A store that keeps nothing, so that every request reaches the origin.
final class NoStore: CacheStore {
  private let invalidations = ChangeCounters()

  func peek(_ key: CacheKey) -> [StoredVariant]? { [] }
  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { [] }
  func ticket() -> InvalidationTicket { invalidations.ticket() }
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    invalidations.isOvertaken(key, groups: groups, since: ticket)
  }

  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    throw CacheError(.unavailable, "nothing is kept")
  }
  func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter {
    throw CacheError(.unavailable, "nothing is kept")
  }
  func note(_ refusal: RefusalNote) {}
  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { [] }
  func update(_ record: CacheRecord) async throws(CacheError) -> Bool { false }
  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int { 0 }
  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? { 0 }
  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage { EntryPage(entries: [], next: nil) }
  var usage: StoreUsage { StoreUsage() }
  let secret = [UInt8](repeating: 7, count: 32)
  func count(_ counts: CacheCounts) {}
  func counts() async throws(CacheError) -> CacheCounts { CacheCounts() }
  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {}
  func flush() async {}
}
