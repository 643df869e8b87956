import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

@Suite struct DiskStoreTests {
  @Test(
    "a body of any size comes back as it was written",
    arguments: [0, 1, 16_384, 16_385, 262_143, 262_144, 262_145, 1_000_000, 3_000_001])
  func roundTrip(size: Int) async throws {
    let fixture = try Fixture()
    let body = bytes(size)
    let stored = try await fixture.store.put(try record("/a"), body, pieces: 10_007)
    #expect(stored.bodyLength == Int64(size))
    #expect(stored.sequence > 0)
    let variants = try fixture.store.read(key("/a"))
    #expect(variants.count == 1)
    let found = try #require(variants.first)
    #expect(found.record.response.head.headerFields.map(\.name.rawName) == ["Content-Type", "X-Two", "x-two"])
    #expect(found.record.userInfo == [1, 2, 3])
    #expect(found.record.sequence == stored.sequence)
    #expect(try await fixture.store.body(key("/a")) == body)
    let files = try fixture.directory.bodyFiles()
    #expect(files.count == (size > 16_384 ? 1 : 0))
    for file in files {
      let data = try #require(FileManager.default.contents(atPath: fixture.directory.path("cache/bodies/" + file)))
      #expect(Array(data) == body, "the file holds exactly the body")
    }
  }
}
