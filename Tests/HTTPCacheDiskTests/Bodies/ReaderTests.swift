import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct ReaderTests {
  @Test("each range of a body has the bytes that were written")
  func ranges() async throws {
    let fixture = try Fixture()
    let body = bytes(700_001)
    try await fixture.store.put(try record("/a"), body)
    let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
    let edges: [Int64] = [0, 1, 65_536, 262_143, 262_144, 262_145, 524_288, 700_000, 700_001]
    for lower in edges {
      for upper in edges where upper > lower {
        let found = try await reader.read(lower..<upper)
        #expect(found.array == Array(body[Int(lower)..<Int(upper)]))
      }
    }
    #expect(try await reader.read(699_990..<800_000).array == Array(body[699_990...]))
    #expect(try await reader.read(700_001..<800_000).isEmpty)
    #expect(try await reader.read(5..<5).isEmpty)
  }

  @Test("a body that is open stays readable after its entry was replaced and removed")
  func removed() async throws {
    let fixture = try Fixture()
    let body = bytes(600_000)
    try await fixture.store.put(try record("/a"), body)
    let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
    try await fixture.store.put(try record("/a"), bytes(600_000, seed: 2))
    try await fixture.store.remove(.all)
    #expect(try fixture.directory.bodyFiles().isEmpty)
    #expect(try await reader.read(0..<600_000).array == body)
  }

  @Test("a file region is verified once every block was read")
  func region() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), bytes(600_000))
    let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
    #expect(reader.fileRegion?.isVerified == false)
    _ = try await reader.read(0..<300_000)
    #expect(reader.fileRegion?.isVerified == false)
    _ = try await reader.read(599_999..<600_000)
    let region = try #require(reader.fileRegion)
    #expect(region.isVerified)
    #expect(region.offset == 0 && region.count == 600_000)
  }

  @Test("a block that was checked is checked again when its file has changed, and on every read always")
  func verification() async throws {
    for verification in [Verification.firstRead, .everyRead] {
      let fixture = try Fixture(verification: verification)
      let body = bytes(100_000)
      try await fixture.store.put(try record("/a"), body)
      let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
      _ = try await reader.read(0..<10)
      let file = try #require(try fixture.directory.bodyFiles().first)
      let handle = try #require(
        FileHandle(forUpdatingAtPath: fixture.directory.path("cache/bodies/" + file)))
      try handle.write(contentsOf: Data([body[0] ^ 1]))
      try handle.close()
      await #expect(throws: CacheError.self) { try await reader.read(0..<10) }
    }
  }

  @Test("a body is cloned as a new file, and never over one")
  func clone() async throws {
    for size in [0, 10_000, 600_000] {
      let fixture = try Fixture()
      let body = bytes(size)
      try await fixture.store.put(try record("/a"), body)
      let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
      let path = fixture.directory.path("clone")
      try await reader.clone(to: path)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(body))
      await #expect(throws: CacheError.self) { try await reader.clone(to: path) }
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("a damaged body is not cloned")
  func cloneDamaged() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), bytes(600_000))
    let file = try #require(try fixture.directory.bodyFiles().first)
    let handle = try #require(
      FileHandle(forUpdatingAtPath: fixture.directory.path("cache/bodies/" + file)))
    try handle.seek(toOffset: 500_000)
    try handle.write(contentsOf: Data([0, 0, 0, 0, 0, 0, 0, 0]))
    try handle.close()
    let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
    let path = fixture.directory.path("clone")
    await #expect(throws: CacheError.self) { try await reader.clone(to: path) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("a growing body is read as far as it has come, in memory and in its file")
  func growing() async throws {
    let fixture = try Fixture()
    let body = bytes(900_000)
    let writer = try await fixture.store.write(try record("/a"), variantLimit: 8)
    let reader = try writer.reader()
    #expect(reader.length == nil)
    #expect(reader.availableRanges == [])
    #expect(try await reader.read(0..<10).isEmpty)
    var written = 0
    while written < body.count {
      let end = min(body.count, written + 70_001)
      try await writer.append(BodyBytes(body[written..<end]))
      written = end
      #expect(reader.availableRanges == [0..<Int64(written)])
      let start = max(0, written - 200_000)
      let found = try await reader.read(Int64(start)..<Int64(written) + 1_000)
      #expect(found.array == Array(body[start..<written]))
    }
    try await writer.commit(trailers: [:])
    #expect(reader.length == 900_000)
    #expect(try await reader.read(0..<900_000).array == body)
    let path = fixture.directory.path("clone")
    try await reader.clone(to: path)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(body))
  }

  @Test("bytes that were appended before a writer was abandoned can still be read")
  func givenUp() async throws {
    let fixture = try Fixture()
    let body = bytes(400_000)
    let writer = try await fixture.store.write(try record("/a"), variantLimit: 8)
    let reader = try writer.reader()
    try await writer.append(BodyBytes(body))
    writer.abandon()
    try await until { try fixture.directory.bodyFiles().isEmpty }
    #expect(try await reader.read(0..<400_000).array == body)
    #expect(reader.length == nil)
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
