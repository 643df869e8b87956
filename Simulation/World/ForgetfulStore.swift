import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// A store that leaves out the second application of each change, for `FleetPlan.Mutation.appliesOnlyBefore`.
final class ForgetfulStore: StoreLayer {
  let base: any CacheStore
  private let tier: SimulatedTier

  init(_ base: MemoryStore, _ tier: SimulatedTier) {
    self.base = base
    self.tier = tier
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    tier.skips(selection) ? 0 : try await base.remove(selection)
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    tier.skips(selection) ? 0 : try await base.mark(selection, as: mark)
  }

  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    tier.skips(.partition(mode: mode, partition))
      ? 0 : try await base.wipe(mode: mode, partition: partition)
  }
}
