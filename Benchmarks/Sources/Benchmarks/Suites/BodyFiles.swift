import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

/// Rows about body files of 1 MiB. Several threads do the work, so these rows measure wall time. Each round runs all
/// rows, and the best of many rounds counts, to reduce the effect of other programs.
final class BodyFiles: Sendable {
  private static let length = 1 << 20
  private static let rounds = 60
  private static let callsPerRound = 20

  private let folder: String
  private let store: DiskStore
  private let checking: DiskStore
  private let cache: HTTPCache
  private let memory: HTTPCache
  private let request = Samples.request(1)
  private let small = Samples.request(1, path: "/small")
  private let key: CacheKey

  private typealias Work = @Sendable () async throws -> Int

  init() async throws {
    folder = FileManager.default.temporaryDirectory.path + "/cache-benchmarks-\(UUID().uuidString)"
    guard let key = CacheKey(request: request, rules: CacheRules()),
      let smallKey = CacheKey(request: small, rules: CacheRules()),
      let stored = Samples.stored(request, Samples.response(1), rules: CacheRules(mode: .private))
    else { throw BenchmarkError.misses(1) }
    self.key = key
    let clock = StillClock()
    store = try DiskStore.open(directory: folder + "/cache", capacity: 1 << 30, clock: clock)
    checking = try DiskStore.open(
      directory: folder + "/cache", capacity: 1 << 30, options: DiskStore.Options(verification: .everyRead),
      clock: clock)
    cache = HTTPCache(configuration: HTTPCache.Configuration(clock: clock), store: store)
    let memoryStore = MemoryStore(capacity: 64 << 20, largestEntry: .bytes(2 << 20), clock: clock)
    memory = HTTPCache(configuration: HTTPCache.Configuration(clock: clock), store: memoryStore)
    let content = (0..<Self.length).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
    try Data(content).write(to: URL(fileURLWithPath: folder + "/plain"))
    try await put(content, key, stored, in: store)
    try await put(content, key, stored, in: memoryStore)
    try await put(Array(content[..<1_024]), smallKey, stored, in: memoryStore)
    // Only then does the check count for the next open.
    try await Task.sleep(for: .milliseconds(500))
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func put(
    _ content: [UInt8], _ key: CacheKey, _ stored: StoredResponse, in store: any CacheStore
  ) async throws {
    let record = CacheRecord(key: key, response: stored, bodyLength: Int64(content.count))
    let writer = try await store.write(record, variantLimit: 8)
    try await writer.append(BodyBytes(content))
    try await writer.commit(trailers: [:])
  }

  /// Measures all rows and prints their table.
  func print() async throws {
    let rows: [(name: String, work: Work)] = [
      ("plain file: open, read, close", { [folder] in readPlainFile(folder + "/plain") }),
      ("disk hit through the store", { [self] in try await hit(store) }),
      ("disk hit through the engine", { [self] in try await hit(cache, request) }),
      ("disk hit through the store, `everyRead`", { [self] in try await hit(checking) }),
      ("memory hit through the engine, 1 KiB", { [self] in try await hit(memory, small) }),
      ("memory hit through the engine, 1 MiB", { [self] in try await hit(memory, request) }),
      ("peek and body, 1 KiB", { [self] in peek(small) }),
      ("peek and body, 1 MiB", { [self] in peek(request) }),
    ]
    var times = [[Double]](repeating: [], count: rows.count)
    for _ in 0..<Self.rounds {
      for (index, row) in rows.enumerated() {
        var sum = 0
        let time = try await ContinuousClock().measure {
          for _ in 0..<Self.callsPerRound { sum &+= try await row.work() }
        }
        let expected = row.name.hasSuffix("1 KiB") ? 1_024 : Self.length
        guard sum == Self.callsPerRound * expected else { throw BenchmarkError.misses(sum) }
        times[index].append(time / .microseconds(1) / Double(Self.callsPerRound))
      }
    }
    let best = times.map { $0.min() ?? 0 }
    let median = times.map { $0.sorted()[$0.count / 2] }
    let bases = [0, 0, 0, 0, 4, 4, 6, 6]
    Swift.print("\nBodies of 1 MiB in files, whole body read; ratios to the first row of a kind\n")
    Swift.print(
      "| row | µs, best | µs, median | ratio of the best | of the medians |\n|---|---:|---:|---:|---:|")
    for (index, row) in rows.enumerated() {
      let (ratio, other) = (best[index] / best[bases[index]], median[index] / median[bases[index]])
      Swift.print(
        "| \(row.name) | \(rounded(best[index])) | \(rounded(median[index])) | \(rounded(ratio)) "
          + "| \(rounded(other)) |")
    }
  }

  private func hit(_ store: DiskStore) async throws -> Int {
    guard let reader = try store.read(key).first?.body.open() else { return 0 }
    return try await reader.read(0..<Int64(Self.length)).count
  }

  private func hit(_ cache: HTTPCache, _ request: HTTPRequest) async throws -> Int {
    var count = 0
    for try await bytes in try await cache.respond(to: request, via: NoUpstream()).body {
      count += bytes.count
    }
    return count
  }

  private func peek(_ request: HTTPRequest) -> Int {
    memory.peek(request)?.body.source.stored?.reader.bytesInMemory?.count ?? 0
  }
}

/// The minimum work to return a file's bytes. The buffer begins at a cache line, because systems copy to such addresses
/// fastest.
private func readPlainFile(_ path: String) -> Int {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  guard let memory = malloc((1 << 20) + 64) else { return 0 }
  defer { free(memory) }
  return read(descriptor, memory + (-Int(bitPattern: memory) & 63), 1 << 20)
}

private struct NoUpstream: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    throw UpstreamError(.unreachable, "only what is stored is asked for")
  }
}

private struct StillClock: CacheClock {
  var now: Timestamp { Samples.now.adding(.seconds(10)) }
  var uptime: Duration { .zero }
  func sleep(for duration: Duration) async throws {}
}
