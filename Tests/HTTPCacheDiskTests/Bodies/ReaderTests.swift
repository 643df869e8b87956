import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct ReaderTests {
  @Test("a block that was checked is checked again when its file has changed, and on every read always")
  func verification() async throws {
    for verification in [Verification.firstRead, .everyRead] {
      let fixture = try Fixture(verification: verification)
      let body = bytes(100_000)
      try await fixture.store.put(try record("/a"), body)
      let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
      _ = try await reader.read(0..<10)
      try overwrite(try fixture.bodyPath(), at: 0, with: [body[0] ^ 1])
      await #expect(throws: CacheError.self) { try await reader.read(0..<10) }
    }
  }

  @Test("a damaged body is not cloned")
  func cloneDamaged() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), bytes(600_000))
    try overwrite(try fixture.bodyPath(), at: 500_000, with: [0, 0, 0, 0, 0, 0, 0, 0])
    let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
    let path = fixture.directory.path("clone")
    await #expect(throws: CacheError.self) { try await reader.clone(to: path) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("many tasks read, write and remove at once, and none sees a wrong body")
  func together() async throws {
    let fixture = try Fixture(capacity: 6 << 20, largestEntry: .bytes(1 << 20))
    let (store, other) = (fixture.store, try fixture.other())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<6 {
        group.addTask {
          let store = task % 2 == 0 ? store : other
          for round in 0..<40 {
            let path = "/\((task * 7 + round * 3) % 11)"
            let seed = UInt64(task * 1_000 + round + 1)
            let size = [10, 20_000, 300_000][round % 3]
            var body = bytes(size, seed: seed)
            body[0] = UInt8(truncatingIfNeeded: seed)
            switch round % 5 {
            case 4: try await store.remove(.key(key(path)))
            case 0, 2: try await store.putIfLatest(try record(path), body)
            default:
              for variant in try store.read(key(path)) {
                guard let reader = try? variant.body.open() else { continue }
                let found = try await reader.read(0..<(reader.length ?? 0))
                #expect(Int64(found.count) == variant.record.bodyLength)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    await store.flush()
    let report = try await store.verify(repair: false)
    #expect(report.isSound, "\(report)")
  }
}
