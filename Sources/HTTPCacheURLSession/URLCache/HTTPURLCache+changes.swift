import Foundation
import HTTPCacheSemantics
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Removals and capacities, which wait until the store has done them.
extension HTTPURLCache {
  func remove(_ request: URLRequest) {
    guard let request = try? HTTPRequest(request) else { return }
    CallerRuns.wait { [cache, partition] in
      await cache.removeStored(for: request, partition: partition)
    }
  }

  func removeAll() {
    let mode = cache.configuration.rules.mode
    let selection: CacheSelection = partition.isEmpty ? .all : .partition(mode: mode, partition)
    wait(for: "remove") { store throws(CacheError) in try await store.remove(selection) }
  }

  func removeStored(since time: Timestamp) {
    guard !partition.isEmpty else {
      return wait(for: "remove") { store throws(CacheError) in
        try await store.remove(.storedSince(time))
      }
    }
    wait(for: "remove") { [partition, mode = cache.configuration.rules.mode] store throws(CacheError) in
      var cursor: EntryCursor?
      repeat {
        let page = try await store.entries(.storedSince(time), after: cursor, limit: 256)
        for record in page.entries.map(\.record)
        where record.key.partition == partition && record.key.mode == mode {
          try await store.remove(.variant(record.key, sequence: record.sequence))
        }
        cursor = page.next
      } while cursor != nil
    }
  }

  func setCapacity(memory: Int64? = nil, disk: Int64? = nil) {
    wait(for: "set capacity") { store throws(CacheError) in
      try await store.setCapacity(memory: memory.map { max(0, $0) }, disk: disk.map { max(0, $0) })
    }
  }

  private func wait(
    for operation: String,
    _ work: @escaping @Sendable (any CacheStore) async throws(CacheError) -> Void
  ) {
    CallerRuns.wait { [cache] in
      do throws(CacheError) { try await work(cache.store) } catch {
        cache.configuration.observer?.observe(.storeFailed(operation: operation, error))
      }
    }
  }
}
