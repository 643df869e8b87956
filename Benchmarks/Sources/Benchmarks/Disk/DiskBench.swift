import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// A store with `size` entries beside a table with as many rows.
struct DiskBench {
  let size: Int
  private let folder: String
  private let store: DiskStore
  private let cache: HTTPCache
  private let upstream: OneBodyUpstream
  private let raw: RawDatabase
  private let small = DiskSample.body(1_024)
  private let middle = DiskSample.body(4_096)
  private let large = DiskSample.body(65_536)
  private let record = DiskSample.body(DiskSample.recordLength)

  private static let groups = 100

  /// Fills the store and the table.
  init(size: Int, folder: String) async throws {
    self.size = size
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try Self.open(folder)
    upstream = OneBodyUpstream(BodyBytes(middle))
    cache = HTTPCache(configuration: HTTPCache.Configuration(clock: StandingClock()), store: store)
    raw = try RawDatabase(path: folder + "/raw.db")
    // A store filled by an earlier run stays, but must be in the system's cache like one that was just written.
    guard store.usage.diskEntries < size else {
      for name in ["raw.db", "ours/Cache.db"] { try Self.readAll(folder + "/" + name) }
      return
    }
    // Fast settings for filling only.
    raw.execute("PRAGMA cache_size = -262144; BEGIN")
    for index in 0..<size {
      try raw.insert(DiskSample(index, length: small.count).key, record: record, body: small)
    }
    raw.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA cache_size = -2048")
    let (store, body) = (store, BodyBytes(small))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<256 {
        group.addTask {
          for index in stride(from: lane, to: size, by: 256) {
            try await Self.put(
              DiskSample(index, length: body.count, groups: Self.groups).record, body, in: store)
          }
        }
      }
      try await group.waitForAll()
    }
    await store.flush()
  }

  private static func open(_ folder: String) throws -> DiskStore {
    try DiskStore.open(directory: folder + "/ours", capacity: 1 << 38, clock: StandingClock())
  }

  private static func readAll(_ path: String) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    while let data = try file.read(upToCount: 1 << 20), !data.isEmpty {}
  }

  private static func put(_ record: CacheRecord, _ body: BodyBytes, in store: DiskStore) async throws {
    let writer = try await store.write(record, variantLimit: 32)
    try await writer.append(body)
    try await writer.commit(trailers: [:])
  }

  // MARK: Rows

  // An entry that no earlier run on this folder has removed.
  private func stored(_ index: Int) -> Int { index % 10 == 3 || index % 10 == 4 ? index / 10 * 10 : index }

  /// Hits of 1 KiB in random order: the peer, the store, the engine.
  func hits() async throws -> [(String, Timings)] {
    var (peer, ours, engine) = (Timings(), Timings(), Timings())
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20 {
      let samples = try (0..<500).map { _ in
        try DiskSample(stored(Int.random(in: 0..<size, using: &generator)), length: small.count)
      }
      try peer.measure(samples.count) {
        guard raw.get(samples[$0].key) == record.count + small.count else { throw BenchmarkError.misses($0) }
      }
      try await ours.measure(samples.count) {
        guard let variant = try store.read(samples[$0].record.key).first else {
          throw BenchmarkError.misses($0)
        }
        let reader = try variant.body.open()
        let bytes = try await reader.read(0..<(reader.length ?? 0))
        guard bytes.count == small.count else { throw BenchmarkError.misses($0) }
      }
      try await engine.measure(samples.count) {
        let response = try await cache.respond(to: samples[$0].request, via: upstream)
        guard try await response.body.collect().count == small.count else { throw BenchmarkError.misses($0) }
      }
    }
    return [("raw get, 1 KiB", peer), ("store, hit 1 KiB", ours), ("engine, hit 1 KiB", engine)]
  }

  /// Look-ups of keys that are not stored.
  func misses() async throws -> [(String, Timings)] {
    var (peer, ours) = (Timings(), Timings())
    for round in 0..<10 {
      let samples = try (0..<500).map { try DiskSample(round * 500 + $0, kind: "missing", length: 1) }
      peer.measure(samples.count) { _ = raw.get(samples[$0].key) }
      try ours.measure(samples.count) { _ = try store.read(samples[$0].record.key) }
    }
    return [("raw miss", peer), ("store, miss", ours)]
  }

  /// New entries of 4 KiB, with inline bodies.
  func insertions() async throws -> [(String, Timings)] {
    var (peer, ours, engine) = (Timings(), Timings(), Timings())
    let run = Int(Date().timeIntervalSince1970)
    for round in 0..<12 {
      let samples = try (0..<250).map {
        try DiskSample(round * 250 + $0, kind: "new-\(run)", length: middle.count)
      }
      let others = try (0..<250).map {
        try DiskSample(round * 250 + $0, kind: "engine-\(run)", length: middle.count)
      }
      try peer.measure(samples.count) { try raw.insert(samples[$0].key, record: record, body: middle) }
      let body = BodyBytes(middle)
      try await ours.measure(samples.count) { try await Self.put(samples[$0].record, body, in: store) }
      try await engine.measure(others.count) {
        _ = try await cache.respond(to: others[$0].request, via: upstream).body.collect()
      }
    }
    return [("raw insert, 4 KiB", peer), ("store, write 4 KiB", ours), ("engine, store 4 KiB", engine)]
  }

  /// New entries of 64 KiB, with body files.
  func files() async throws -> [(String, Timings)] {
    var (peer, ours) = (Timings(), Timings())
    let run = Int(Date().timeIntervalSince1970)
    let body = BodyBytes(large)
    for round in 0..<8 {
      try await Self.put(
        DiskSample(round, kind: "first-\(run)", length: large.count).record, body, in: store)
      // On some file systems, making a file takes ten times as long in a folder with many files.
      let rawFiles = try RawFiles(folder: folder + "/ours/bodies")
      let samples = try (0..<100).map {
        try DiskSample(round * 100 + $0, kind: "file-\(run)", length: large.count)
      }
      try peer.measure(samples.count) {
        let name = "\(run)-\(round * 100 + $0)"
        try rawFiles.write(large, name: name)
        try raw.insert(samples[$0].key, record: record, body: nil, file: name)
      }
      try await ours.measure(samples.count) { try await Self.put(samples[$0].record, body, in: store) }
    }
    return [("write + rename + raw insert, 64 KiB", peer), ("store, write 64 KiB", ours)]
  }

  /// Opening the directory, up to the first answer.
  func opening() async throws -> [(String, Timings)] {
    var ours = Timings()
    for round in 0..<9 {
      let key = try DiskSample(stored(round * 7 % size), length: small.count).record.key
      // The time does not include closing.
      var opened: DiskStore?
      try ours.measure(1) { _ in
        let store = try Self.open(folder)
        guard try !store.read(key).isEmpty else { throw BenchmarkError.misses(round) }
        opened = store
      }
      await opened?.flush()
    }
    return [("open, to the first answer", ours)]
  }

  /// Operations on the whole store, and removals of a tenth of its entries each, then the work behind them.
  func upkeep() async throws -> [(String, Timings)] {
    var (usage, counts, page) = (Timings(), Timings(), Timings())
    for _ in 0..<50 {
      usage.measure(1) { _ in blackHole(Int(store.usage.diskBytes)) }
      try await counts.measure(1) { _ in _ = try await store.counts() }
      try await page.measure(1) { _ in _ = try await store.entries(.all, after: nil, limit: 100) }
    }
    var (prefix, group, behind, freshen) = (Timings(), Timings(), Timings(), Timings())
    try await prefix.measure(1) { _ in
      _ = try await store.invalidate(.prefix("https://www.example.com/entry/3/"))
    }
    try await group.measure(1) { _ in
      _ = try await store.invalidate(.group(origin: "https://www.example.com", name: "group-4"))
    }
    let sample = try DiskSample(size / 2, length: small.count)
    try freshen.measure(100) { _ in _ = try store.read(sample.record.key) }
    raw.execute("ATTACH '\(folder)/ours/Cache.db' AS ours")
    defer { raw.execute("DETACH ours") }
    try await behind.measure(1) { _ in
      while try raw.number("SELECT count(*) FROM ours.epoch") > 0 {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    return [
      ("usage", usage), ("counters", counts), ("first 100 entries", page),
      ("remove by prefix, a tenth", prefix),
      ("remove by group, a hundredth", group), ("hit while a removal is worked off", freshen),
      ("both worked off", behind),
    ]
  }
}
