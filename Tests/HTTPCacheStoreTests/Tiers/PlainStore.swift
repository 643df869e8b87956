import HTTPCacheSemantics
import HTTPCacheStore

/// Hides the generation of a store.
final class PlainStore: StoreLayer, TierBase {
  private let tierBase: any CacheStore & TierBase

  init(_ base: any CacheStore & TierBase) { tierBase = base }

  var base: any CacheStore { tierBase }

  func recordUses(_ uses: [KeyUses]) { tierBase.recordUses(uses) }

  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] { try tierBase.variants(of: key) }
}
