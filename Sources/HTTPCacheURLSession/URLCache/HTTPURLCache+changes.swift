import HTTPCacheSemantics
import HTTPCaching

/// Removals and capacities, which wait until the store has done them.
extension HTTPURLCache {
  func remove(_ request: URLRequest) {
    guard let request = try? HTTPRequest(request) else { return }
    CallingThreadExecutor.wait { [cache, partition] in
      await cache.removeStored(for: request, partition: partition)
    }
  }

  func removeAll() {
    let mode = cache.configuration.rules.mode
    let selection: CacheSelection = partition.isEmpty ? .all : .partition(mode: mode, partition)
    wait(for: "remove") { cache throws(CacheError) in try await cache.remove(selection) }
  }

  func removeStored(since time: Timestamp) {
    guard !partition.isEmpty else {
      return wait(for: "remove") { cache throws(CacheError) in
        try await cache.remove(.storedSince(time))
      }
    }
    wait(for: "remove") { [partition, mode = cache.configuration.rules.mode] cache throws(CacheError) in
      var cursor: EntryCursor?
      repeat {
        let page = try await cache.entries(.storedSince(time), after: cursor, limit: 256)
        for record in page.entries.map(\.record)
        where record.key.partition == partition && record.key.mode == mode {
          try await cache.remove(.variant(record.key, sequence: record.sequence))
        }
        cursor = page.next
      } while cursor != nil
    }
  }

  func setCapacity(memory: Int64? = nil, disk: Int64? = nil) {
    wait(for: "set capacity") { cache throws(CacheError) in
      try await cache.setCapacity(memory: memory.map { max(0, $0) }, disk: disk.map { max(0, $0) })
    }
  }

  private func wait(
    for operation: String,
    _ work: @escaping @Sendable (HTTPCache) async throws(CacheError) -> Void
  ) {
    CallingThreadExecutor.wait { [cache] in
      do throws(CacheError) { try await work(cache) } catch {
        cache.configuration.observer?.observe(.storeFailed(operation: operation, error))
      }
    }
  }
}
