import HTTPCacheStore

extension HTTPCache.Configuration {
  /// The name of the file for marks of seeds, in the directory of the cache.
  package static let seedMarksName = "Seeds.marks"

  /// The store with the seeds below it; the store itself without seeds.
  func seeded(_ store: any CacheStore) -> any CacheStore {
    guard !seeds.isEmpty else { return store }
    let observer = observer
    return SeedLayer(
      base: store, seeds: seeds, mode: rules.mode,
      marksPath: directory.flatMap { $0.isEmpty ? nil : "\($0)/\(Self.seedMarksName)" }, clock: clock
    ) { operation, error in
      observer?.observe(.storeFailed(operation: operation, error))
    }
  }
}
