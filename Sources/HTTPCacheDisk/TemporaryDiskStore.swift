public import HTTPCacheSemantics
public import HTTPCacheStore

/// Temporary stand-in.
public struct VerificationReport: Sendable {
  public var checked = 0
}
public final class DiskStore: CacheStore {
  public static func open(
    directory: String, capacity: Int64, largestEntry: Int64?, durability: Durability,
    verification: Verification, clock: any CacheClock
  ) throws(CacheError) -> DiskStore { DiskStore() }
  public func verify(repair: Bool) async throws(CacheError) -> VerificationReport { VerificationReport() }
  public func peek(_ key: CacheKey) -> PeekResult { .absent }
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { [] }
  public func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    throw CacheError(.unavailable, "")
  }
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool { false }
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int { 0 }
  public func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? { nil }
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage { EntryPage(entries: [], next: nil) }
  public var usage: StoreUsage { StoreUsage() }
  public var secret: [UInt8] { [] }
  public func count(_ counts: CacheCounts) {}
  public func counts() async throws(CacheError) -> CacheCounts { CacheCounts() }
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {}
  public func flush() async {}
}
