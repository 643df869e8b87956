import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import Testing

/// A body file into which another process writes while a reader has it open.
@Suite(.timeLimit(.minutes(10))) struct WrittenBodyTests {
  private let body = bytes(600_000)

  private func open(_ store: DiskStore) throws -> any BodyReader {
    try #require(try store.read(key("/a")).first).body.open()
  }

  private func file(_ fixture: Fixture) throws -> FileHandle {
    let path = fixture.directory.path(
      "cache/bodies/" + (try #require(try fixture.directory.bodyFiles().first)))
    return try #require(FileHandle(forUpdatingAtPath: path))
  }

  /// A store with a body of which all blocks count as checked.
  private func checked() async throws -> Fixture {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), body)
    try await until {
      _ = try await open(fixture.store).read(0..<600_000)
      return try open(fixture.store).fileRegion?.isVerified == true
    }
    return fixture
  }

  @Test(
    "bytes written after a body was opened are found, although all blocks were checked",
    arguments: [0, 300_000, 599_999])
  func written(at offset: Int) async throws {
    let fixture = try await checked()
    let reader = try open(fixture.store)
    #expect(reader.isVerified(0..<600_000))
    let file = try file(fixture)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([body[offset] ^ 1]))
    #expect(!reader.isVerified(0..<600_000))
    let start = Int64(offset) / 262_144 * 262_144
    let error = await #expect(throws: CacheError.self) {
      _ = try await reader.read(start..<min(600_000, start + 262_144))
    }
    #expect(error?.code == .damaged)
    try await until { try fixture.store.read(key("/a")).isEmpty }
  }

  @Test("other blocks of a file that was written to are read, each checked")
  func otherBlocks() async throws {
    let fixture = try await checked()
    let reader = try open(fixture.store)
    try file(fixture).write(contentsOf: Data([body[0] ^ 1]))
    for range in [262_144..<524_288, 300_000..<300_010, 524_288..<600_000] {
      let bytes = try await reader.read(Int64(range.lowerBound)..<Int64(range.upperBound))
      #expect(bytes.array == Array(body[range]))
    }
  }

  @Test("the same bytes written again are read")
  func sameBytes() async throws {
    let fixture = try await checked()
    let reader = try open(fixture.store)
    try file(fixture).write(contentsOf: Data(body))
    #expect(try await reader.read(0..<600_000).array == body)
  }

  @Test(
    "an open body whose entry is removed, or whose file is renamed, can be read and sent from its file"
  )
  func unlinked() async throws {
    let fixture = try await checked()
    let (first, second) = (try open(fixture.store), try open(fixture.store))
    try await second.clone(to: fixture.directory.path("copy"))
    let name = try #require(try fixture.directory.bodyFiles().first)
    try FileManager.default.linkItem(
      atPath: fixture.directory.path("cache/bodies/" + name), toPath: fixture.directory.path("link"))
    #expect(first.isVerified(0..<600_000))
    #expect(try await fixture.store.remove(.all) == 1)
    try await until { try fixture.directory.bodyFiles().isEmpty }
    try FileManager.default.removeItem(atPath: fixture.directory.path("link"))
    #expect(first.isVerified(0..<600_000))
    #expect(try await first.read(0..<600_000).array == body)
  }
}
