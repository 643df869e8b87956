import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Partial bodies whose writer was killed, or whose file is damaged.
@Suite(.timeLimit(.minutes(10))) struct PartialDamageTests {
  private let body = bytes(2_000_000)

  private func flip(_ fixture: Fixture, at offset: Int) throws {
    try overwrite(try fixture.bodyPath(), at: UInt64(offset), with: [body[offset] ^ 0x10])
  }

  @Test("the bytes received before a process was killed are found, and the body can be completed")
  func killed() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await #expect(processExitsWith: .signal(SIGKILL)) { [cache = cache as String] in
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
      let writer = try await store.write(try resumable("/a", 6_000_000), variantLimit: 8)
      try await writer.append(BodyBytes(bytes(300_000)))
      let all = bytes(6_000_000)
      for start in stride(from: 300_000, to: 5_000_000, by: 100_000) {
        try await writer.append(BodyBytes(all[start..<start + 100_000]))
      }
      kill(getpid(), SIGKILL)
    }
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    let all = bytes(6_000_000)
    let found = try #require(try store.ranges("/a")?.first)
    #expect(found.lowerBound == 0 && found.upperBound >= 4 << 20)
    #expect(try await store.bytes("/a", 0..<Int(found.upperBound)) == Array(all[..<Int(found.upperBound)]))
    #expect(try await store.verify(repair: true).isSound)
    try await store.addPart("/a", all, Int(found.upperBound)..<6_000_000)
    #expect(try await store.body(key("/a")) == all)
    #expect(try await store.verify(repair: false).isSound)
    #expect(try directory.bodyFiles().count == 1)
  }

  @Test("bytes added to a partial body before the process was killed are found")
  func killedWhileExtending() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await #expect(processExitsWith: .signal(SIGKILL)) { [cache = cache as String] in
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
      let all = bytes(7_000_000)
      let part = try await store.putPart("/a", all, 0..<1_000_000)
      let writer = try await store.extend(part, at: 1_000_000)
      for start in stride(from: 1_000_000, to: 6_000_000, by: 100_000) {
        try await writer.append(BodyBytes(all[start..<start + 100_000]))
      }
      kill(getpid(), SIGKILL)
    }
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    let all = bytes(7_000_000)
    let end = Int(try #require(try store.ranges("/a")?.first).upperBound)
    #expect(end >= 5_000_000 && end < 6_000_000)
    #expect(try await store.bytes("/a", 0..<end) == Array(all[..<end]))
    try await store.addPart("/a", all, end..<7_000_000)
    #expect(try await store.body(key("/a")) == all)
    try await until {
      try FileManager.default.contentsOfDirectory(atPath: cache + "/writers").count <= 1
    }
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test(
    "one changed byte in a piece is found, and the partial body is removed",
    arguments: [700_000, 786_431, 786_432, 1_299_999])
  func flipped(offset: Int) async throws {
    let fixture = try Fixture()
    try await fixture.store.putPart("/a", body, 700_000..<1_300_000)
    try flip(fixture, at: offset)
    #expect(try await fixture.store.verify(repair: false).findings.count == 1)
    let error = await #expect(throws: CacheError.self) {
      _ = try await fixture.store.bytes("/a", 700_000..<1_300_000)
    }
    #expect(error?.code == .damaged)
    try await until { try fixture.store.read(key("/a")).isEmpty }
    try await until { try fixture.directory.bodyFiles().isEmpty }
  }

  @Test("a changed byte outside the pieces, or in a piece that is not read, has no effect")
  func flippedElsewhere() async throws {
    let fixture = try Fixture()
    try await fixture.store.putPart("/a", body, 700_000..<1_300_000)
    try flip(fixture, at: 500_000)
    #expect(try await fixture.store.verify(repair: false).isSound)
    try flip(fixture, at: 1_250_000)
    let found = try await fixture.store.bytes("/a", 700_000..<900_000)
    #expect(found == Array(body[700_000..<900_000]))
  }

  @Test("a damaged piece is not sealed into a complete body")
  func completion() async throws {
    let fixture = try Fixture()
    try await fixture.store.putPart("/a", body, 0..<1_100_000)
    // Damage a block that gets a second piece, so that the writer has to hash the block again.
    try flip(fixture, at: 1_060_000)
    await #expect(throws: CacheError.self) {
      try await fixture.store.addPart("/a", body, 1_100_000..<2_000_000)
    }
    try await until { try fixture.store.read(key("/a")).isEmpty }
    try await until { try fixture.directory.bodyFiles().isEmpty }
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("a missing file, or a file shorter than its pieces, is damage: the entry is removed")
  func truncated() async throws {
    for change in ["cut", "gone"] {
      for isExtended in [true, false] {
        let fixture = try Fixture()
        let part = try await fixture.store.putPart("/a", body, 700_000..<1_300_000)
        let path = try fixture.bodyPath()
        if change == "cut" {
          try #require(FileHandle(forWritingAtPath: path)).truncate(atOffset: 1_299_999)
        } else {
          try FileManager.default.removeItem(atPath: path)
        }
        if isExtended {
          await #expect(throws: CacheError.self) {
            _ = try await fixture.store.extend(part, at: 0)
          }
        } else {
          let variant = try #require(try fixture.store.read(key("/a")).first)
          #expect(throws: CacheError.self) { _ = try variant.body.open() }
        }
        if change == "cut" || !isExtended {
          try await until { try fixture.store.read(key("/a")).isEmpty }
        }
      }
    }
  }

  @Test("rows of pieces that are impossible or missing are damage and never a trap")
  func hostileRows() async throws {
    for sql in [
      // A wrong end of the first piece, a wrong start, an end before the start, a wrong checksum.
      "UPDATE block SET pieces = substr(pieces, 1, 4) || x'ffffffff' || substr(pieces, 9)",
      "UPDATE block SET pieces = x'00000000' || substr(pieces, 5)",
      "UPDATE block SET pieces = substr(pieces, 1, 4) || substr(pieces, 1, 4) || substr(pieces, 9)",
      "UPDATE block SET pieces = substr(pieces, 1, 8) || x'0000000000000000' || substr(pieces, 17)",
      "UPDATE block SET pieces = substr(pieces, 1, 32)", "UPDATE block SET pieces = pieces || x'00'",
      "UPDATE block SET pieces = pieces || pieces", "UPDATE block SET pieces = 'x'",
      "UPDATE block SET pieces = zeroblob(1000000)", "UPDATE block SET part = -1",
      "UPDATE block SET part = 9223372036854775807", "UPDATE block SET part = part + 1",
      "UPDATE entry SET partial = 0", "UPDATE entry SET file = NULL",
    ] {
      let fixture = try Fixture()
      let part = try await fixture.store.putPart("/a", body, 700_000..<1_300_000)
      try fixture.execute(sql)
      var found: [UInt8]?
      if let variant = try fixture.store.read(key("/a")).first {
        found = try? await variant.body.open().read(700_000..<1_300_000).array
      }
      #expect(found == nil, "\(sql)")
      _ = try? await fixture.store.extend(part, at: 0)
      try await until { try fixture.store.read(key("/a")).isEmpty }
    }
  }

  @Test("repair removes damaged partial bodies and pieces without an entry, and keeps sound ones")
  func repair() async throws {
    let fixture = try Fixture()
    try await fixture.store.putPart("/a", body, 700_000..<1_300_000)
    try flip(fixture, at: 800_000)
    try await fixture.store.putPart("/b", body, 100..<400_000)
    try await fixture.store.putPart("/c", body, 100..<200)
    try fixture.execute("INSERT INTO block VALUES (77, 0, zeroblob(16))")
    let report = try await fixture.store.verify(repair: true)
    #expect(report.findings.count == 2)
    #expect(report.entries == 3)
    #expect(try await fixture.store.verify(repair: false).isSound)
    #expect(try fixture.store.read(key("/a")).isEmpty)
    #expect(try await fixture.store.bytes("/b", 100..<400_000) == Array(body[100..<400_000]))
    #expect(try await fixture.store.bytes("/c", 100..<200) == Array(body[100..<200]))
    #expect(try fixture.directory.bodyFiles().count == 2)
  }
}
