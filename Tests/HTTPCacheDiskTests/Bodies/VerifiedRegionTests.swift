import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// After one check, a body file is sent and read without checks until the file changes.
@Suite(.timeLimit(.minutes(10))) struct VerifiedRegionTests {
  private let body = bytes(600_000)

  private func open(_ store: DiskStore) throws -> any BodyReader {
    try #require(try store.read(key("/a")).first).body.open()
  }

  private func file(_ fixture: Fixture) throws -> FileHandle {
    try #require(FileHandle(forUpdatingAtPath: try path(fixture)))
  }

  private func path(_ fixture: Fixture) throws -> String {
    fixture.directory.path("cache/bodies/" + (try #require(try fixture.directory.bodyFiles().first)))
  }

  /// A store with a body that was read after an earlier open and counts as checked.
  private func checked(_ verification: Verification = .firstRead) async throws -> Fixture {
    let fixture = try Fixture(verification: verification)
    try await fixture.store.put(try record("/a"), body)
    #expect(try open(fixture.store).fileRegion?.isVerified == false, "written is not checked")
    // Blocks read in the first moments of a file are not remembered as checked.
    if verification == .firstRead { try await read(fixture.store, untilVerified: true) }
    return fixture
  }

  private func read(_ store: DiskStore, untilVerified: Bool) async throws {
    try await until {
      let reader = try open(store)
      #expect(try await reader.read(0..<600_000).array == body)
      return try open(store).fileRegion?.isVerified == untilVerified
    }
  }

  @Test("a body that was checked by one open is checked for the next one, in this store only")
  func nextOpen() async throws {
    let fixture = try await checked()
    let region = try #require(try open(fixture.store).fileRegion)
    #expect(region.isVerified && region.offset == 0 && region.count == 600_000)
    #expect(try await open(fixture.store).read(0..<600_000).array == body)
    #expect(try open(try fixture.other()).fileRegion?.isVerified == false)
  }

  @Test(
    "what a reader of an arriving body found right is checked again for the next one",
    arguments: [false, true])
  func arriving(isCommitted: Bool) async throws {
    let fixture = try Fixture()
    let writer = try await fixture.store.write(try resumable("/a", 600_000), variantLimit: 8)
    try await writer.append(BodyBytes(body))
    let (first, second) = (try writer.reader(), try writer.reader())
    #expect(try await first.read(0..<262_144).array == Array(body[..<262_144]))
    let file = try file(fixture)
    try file.seek(toOffset: 1_000)
    try file.write(contentsOf: Data([body[1_000] ^ 1]))
    try file.close()
    if isCommitted { try await writer.commit(trailers: [:]) }
    #expect(!second.isVerified(0..<262_144))
    let error = await #expect(throws: CacheError.self) { try await second.read(0..<262_144) }
    #expect(error?.code == .damaged)
  }

  @Test("a range is checked with its blocks")
  func range() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), body)
    let reader = try open(fixture.store)
    _ = try await reader.read(262_144..<262_145)
    #expect(reader.isVerified(262_144..<524_288))
    #expect(reader.isVerified(300_000..<300_001))
    #expect(!reader.isVerified(262_143..<262_145))
    #expect(!reader.isVerified(524_287..<524_289))
    #expect(!reader.isVerified(524_288..<700_000))
    #expect(reader.fileRegion?.isVerified == false)
    _ = try await reader.read(0..<600_000)
    #expect(reader.isVerified(0..<600_000) && reader.fileRegion?.isVerified == true)
    #expect(!reader.isVerified(0..<600_001))
  }

  @Test("with everyRead nothing ever counts as checked")
  func everyRead() async throws {
    let fixture = try await checked(.everyRead)
    let reader = try open(fixture.store)
    #expect(try await reader.read(0..<600_000).array == body)
    #expect(reader.fileRegion?.isVerified == false)
    #expect(!reader.isVerified(0..<1))
    #expect(try open(fixture.store).fileRegion?.isVerified == false)
  }

  @Test(
    "a file that was written to, replaced or touched is checked again, and damage is found",
    arguments: ["written", "same bytes", "replaced", "times set back", "cut and filled up"])
  func changed(how: String) async throws {
    let fixture = try await checked()
    let path = try path(fixture)
    let held = try open(fixture.store)
    #expect(held.fileRegion?.isVerified == true)
    let url = URL(fileURLWithPath: path)
    let damaged = how == "same bytes" ? body : Array(body.dropLast()) + [body[599_999] ^ 1]
    var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000_000, tv_nsec: 5)]
    if how == "times set back" {
      #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
      try await read(fixture.store, untilVerified: true)
    }
    switch how {
    case "replaced":
      try FileManager.default.removeItem(atPath: path)
      try Data(damaged).write(to: url)
    case "cut and filled up":
      let handle = try file(fixture)
      try handle.truncate(atOffset: 599_999)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data(damaged.suffix(1)))
    default:
      let handle = try file(fixture)
      try handle.write(contentsOf: Data(damaged))
    }
    if how == "times set back" { #expect(utimensat(AT_FDCWD, path, &times, 0) == 0) }
    if how != "replaced" { #expect(held.fileRegion?.isVerified == false) }
    let reader = try open(fixture.store)
    #expect(reader.fileRegion?.isVerified == false)
    if how == "same bytes" {
      #expect(try await reader.read(0..<600_000).array == body)
      return
    }
    let error = await #expect(throws: CacheError.self) { _ = try await reader.read(0..<600_000) }
    #expect(error?.code == .damaged)
    try await until { try fixture.store.read(key("/a")).isEmpty }
  }

  @Test("a body that replaces another one is checked by itself")
  func stored() async throws {
    let fixture = try await checked()
    try await fixture.store.put(try record("/a"), body)
    let reader = try open(fixture.store)
    #expect(reader.fileRegion?.isVerified == false)
    #expect(try await reader.read(0..<600_000).array == body)
  }

  // MARK: Another process writes into the file while a reader has it open

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
