import HTTPCacheSemantics
import HTTPCacheStore

/// The store of a cache that was closed: finds nothing, stores nothing, and each call throws `CacheError.closed`.
final class ClosedStore: CacheStore {
  static let shared = ClosedStore()

  private let log = InvalidationLog()

  private static var error: CacheError { CacheError(.closed, "the cache was closed") }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { throw Self.error }

  func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter { throw Self.error }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool { throw Self.error }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int { throw Self.error }

  func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? { throw Self.error }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage { throw Self.error }

  func ticket() -> InvalidationTicket { log.ticket() }

  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool { true }

  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { throw Self.error }

  func counts() async throws(CacheError) -> CacheCounts { throw Self.error }

  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) { throw Self.error }

  var usage: StoreUsage { StoreUsage() }

  var secret: [UInt8] { [] }
}
