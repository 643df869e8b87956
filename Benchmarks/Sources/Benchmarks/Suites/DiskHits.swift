import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// Rows about hits of 1 KiB on a cache with a directory: from the memory tier, and from disk. Both hash the key under
/// the secret of the directory.
func diskHitRows() throws -> [Row] {
  let folder = TemporaryFolder()
  let clock = StandingClock()
  let disk = try DiskStore.open(directory: folder.path, capacity: 64 << 20, clock: clock)
  let tiers = TieredStore(memory: MemoryStore(capacity: 64 << 20, clock: clock), base: disk)
  let cache = HTTPCache(configuration: HTTPCache.Configuration(clock: clock), store: tiers)
  let bytes = [UInt8](repeating: 0x61, count: 1_024)
  let requests = (0..<64).map { Samples.request($0) }
  var keys: [CacheKey] = []
  for (index, request) in requests.enumerated() {
    let response = Samples.response([0, 1, 2, 4, 5][index % 5])
    guard let key = CacheKey(request: request, rules: CacheRules()),
      let stored = Samples.stored(request, response, rules: CacheRules(mode: .private))
    else { continue }
    let record = CacheRecord(key: key, response: stored, bodyLength: Int64(bytes.count))
    _ = try Waiting.run(waitingForOthers: true) {
      let writer = try await tiers.write(record, variantLimit: 32)
      try await writer.append(BodyBytes(bytes))
      try await writer.commit(trailers: [:])
    }
    keys.append(key)
  }
  try Waiting.run(waitingForOthers: true) { await disk.flush() }
  // Keys that share a counter with one that was stored later are copied into memory again.
  for key in keys { _ = try tiers.read(key) }
  var hits = 0
  for request in requests where cache.peek(request) != nil { hits += 1 }
  guard hits == requests.count else { throw BenchmarkError.misses(requests.count - hits) }

  return [
    Row("peek, 1 KiB, memory over a disk", count: requests.count) {
      var sum = 0
      for request in requests { sum &+= cache.peek(request)?.head.status.code ?? 0 }
      return sum
    },
    Row("read from disk, 1 KiB", count: keys.count) {
      withExtendedLifetime(folder) {
        var sum = 0
        for key in keys { sum &+= (try? disk.read(key).count) ?? 0 }
        return sum
      }
    },
  ]
}

/// A temporary folder that is deleted after its rows.
private final class TemporaryFolder {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)").path

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
