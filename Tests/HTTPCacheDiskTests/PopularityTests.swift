import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// What is popular is known after a restart.
@Suite(.timeLimit(.minutes(10))) struct PopularityTests {
  private func open(_ directory: TemporaryDirectory) throws -> DiskStore {
    try DiskStore.open(
      directory: directory.path("cache"), capacity: 4 << 20, largestEntry: .bytes(1 << 20),
      clock: ManualClock(now: Timestamp(seconds: 1_800_000_000)))
  }

  /// Fills a store, uses a response often, restarts, uses it once more, and tells whether it stays when
  /// others come that are used less.
  private func isKeptAfterRestart(_ change: (TemporaryDirectory) throws -> Void) async throws -> Bool {
    let directory = try TemporaryDirectory()
    do {
      let store = try open(directory)
      for index in 0..<25 {
        for _ in 0..<4 { _ = try store.read(key("/\(index)")) }
        try await store.put(try record("/\(index)"), bytes(100_000))
      }
      try await store.put(try record("/wanted"), bytes(100_000))
      for _ in 0..<14 { _ = try store.read(key("/wanted")) }
      await store.flush()
    }
    try change(directory)
    let store = try open(directory)
    await store.loadPopularity()
    _ = try store.read(key("/wanted"))
    await store.flush()
    for index in 100..<160 {
      for _ in 0..<4 { _ = try store.read(key("/\(index)")) }
      try await store.put(try record("/\(index)"), bytes(100_000))
    }
    return try store.read(key("/wanted")).count == 1
  }

  @Test("what was used often stays after a restart, and goes where nothing is known of it")
  func survives() async throws {
    #expect(try await isKeptAfterRestart { _ in })
    #expect(
      try await !isKeptAfterRestart { directory in
        try FileManager.default.removeItem(atPath: directory.path("cache/Cache.use"))
      })
  }

  @Test("what is damaged, cut or something else is ignored, and written anew")
  func damaged() async throws {
    for damage in [Data(), Data(repeating: 7, count: 100), nil] as [Data?] {
      #expect(
        try await !isKeptAfterRestart { directory in
          let path = directory.path("cache/Cache.use")
          var content = try Data(contentsOf: URL(fileURLWithPath: path))
          if let damage { content = damage } else { content[content.count / 2] ^= 1 }
          try content.write(to: URL(fileURLWithPath: path))
        })
    }
  }

  @Test("of two processes each knows what the other one counted")
  func merged() async throws {
    let directory = try TemporaryDirectory()
    let (first, second) = (try open(directory), try open(directory))
    await first.loadPopularity()
    await second.loadPopularity()
    for _ in 0..<12 { _ = try first.read(key("/a")) }
    for _ in 0..<12 { _ = try second.read(key("/b")) }
    await first.flush()
    await second.flush()
    let third = try open(directory)
    await third.loadPopularity()
    #expect(third.frequency(of: key("/b")) == 12)
    #expect(third.frequency(of: key("/a")) == 6)
    #expect(third.frequency(of: key("/c")) == 0)
  }
}
