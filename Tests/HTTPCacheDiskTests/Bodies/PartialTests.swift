import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@testable import HTTPCacheDisk
@testable import HTTPCacheFiles

/// Partial bodies on disk (RFC 9111 §3.3, §3.4): the places of their bytes, and their writers.
@Suite(.timeLimit(.minutes(10))) struct PartialTests {
  private let body = bytes(2_000_000)

  @Test("the bytes of a part are at their place in the body, and completing the body copies nothing")
  func sparse() async throws {
    let fixture = try Fixture()
    try await fixture.store.putPart("/a", body, 700_000..<1_300_000)
    let path = try fixture.bodyPath()
    let partial = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    #expect(partial.count == 1_300_000)
    #expect(Array(partial[700_000...]) == Array(body[700_000..<1_300_000]))
    #expect(!partial[..<700_000].contains { $0 != 0 })
    let entries = try await fixture.store.entries(.key(key("/a")), after: nil, limit: 10).entries
    #expect(entries.count == 1 && entries[0].bodyPath == nil)
    try await fixture.store.addPart("/a", body, 1_300_000..<2_000_000)
    let whole = try await fixture.store.addPart("/a", body, 0..<700_000)
    #expect(whole.isComplete)
    #expect(try fixture.bodyPath() == path)
    let page = try await fixture.store.entries(.key(key("/a")), after: nil, limit: 10)
    #expect(page.entries.map(\.bodyPath) == [path])
    #expect(Array(try Data(contentsOf: URL(fileURLWithPath: path))) == body)
    #expect(try await fixture.store.body(key("/a")) == body)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("a completed body has checksums of whole blocks, the same as if it had come at once")
  func checksums() async throws {
    let fixture = try Fixture()
    try await fixture.store.putPart("/a", body, 100_000..<300_000)
    #expect(try fixture.number("SELECT length(pieces) / 16 FROM block") == 2)
    try await fixture.store.addPart("/a", body, 400_000..<2_000_000)
    try await fixture.store.addPart("/a", body, 0..<450_000)
    try await fixture.store.put(try record("/b"), body)
    #expect(try fixture.number("SELECT count(DISTINCT pieces) FROM block") == 1)
    #expect(try fixture.number("SELECT length(pieces) / 16 FROM block") == 8)
    #expect(try fixture.number("SELECT count(DISTINCT checksum) FROM entry") == 1)
    #expect(try fixture.number("SELECT count(*) FROM block") == 2)
  }

  @Test("a small part has a file, which it keeps when it is whole")
  func small() async throws {
    let fixture = try Fixture()
    let small = bytes(10_000)
    try await fixture.store.putPart("/a", small, 3_000..<5_000)
    try await fixture.store.addPart("/a", small, 0..<1_000)
    #expect(try fixture.directory.bodyFiles().count == 1)
    #expect(try fixture.store.ranges("/a") == [0..<1_000, 3_000..<5_000])
    #expect(try await fixture.store.bytes("/a", 3_000..<5_000) == Array(small[3_000..<5_000]))
    #expect(try await fixture.store.verify(repair: false).isSound)
    try await fixture.store.addPart("/a", small, 5_000..<10_000)
    try await fixture.store.addPart("/a", small, 900..<3_100)
    #expect(try await fixture.store.body(key("/a")) == small)
    #expect(try fixture.directory.bodyFiles().count == 1)
    #expect(try fixture.number("SELECT count(*) FROM block") == 0)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("of two processes, the second adds to a partial body only after the first has ended")
  func exclusion() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    for (path, body) in [("/large", body), ("/small", bytes(9_000))] {
      let half = body.count / 2
      let part = try await fixture.store.putPart(path, body, 0..<half)
      let first = try await fixture.store.extend(part, at: Int64(half))
      let error = await #expect(throws: CacheError.self) {
        _ = try await other.extend(part, at: Int64(half))
      }
      #expect(error?.code == .unavailable)
      try await first.append(BodyBytes(body[half..<half + 100]))
      let kept = try await first.keep()
      #expect(kept?.storedRanges == [0..<Int64(half + 100)])
      #expect(try other.ranges(path) == [0..<Int64(half + 100)])
      let whole = try await other.addPart(path, body, half + 100..<body.count)
      #expect(whole.isComplete)
      #expect(try await fixture.store.body(key(path)) == body)
    }
  }

  @Test("a process that checks for a writer does not block writers, and does not count as one")
  func looking() async throws {
    let fixture = try Fixture(capacity: 8 << 20, largestEntry: .bytes(4 << 20))
    let part = try await fixture.store.putPart("/a", body, 0..<1_000_000)
    let look = LockLoop(try fixture.bodyPath())
    let file = try #require(try fixture.directory.bodyFiles().first)
    let name = try #require(BodyName(fileName: file))
    let folder = fixture.store.thread.currentDirectory.directory
    for _ in 0..<200 {
      let writer = try await fixture.store.extend(part, at: 1_000_000)
      writer.abandon()
      // A thread of the store releases the lock.
      try await until { !folder.isLocked(name) }
    }
    // While another process only looks, the partial body is evicted like any other.
    for index in 0..<60 {
      for _ in 0..<6 { _ = try fixture.store.read(key("/\(index)")) }
      try await fixture.store.put(try record("/\(index)"), bytes(200_000))
    }
    look.end()
    #expect(try fixture.store.read(key("/a")).isEmpty)
    #expect(try await fixture.store.verify(repair: true).findings.isEmpty)
  }

  @Test("a partial body that another process removes while it grows is not stored, and leaves no file")
  func removedMeanwhile() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    let part = try await fixture.store.putPart("/a", body, 0..<1_000_000)
    let writer = try await fixture.store.extend(part, at: 1_000_000)
    try await writer.append(BodyBytes(body[1_000_000..<1_500_000]))
    try await other.remove(.all)
    let error = await #expect(throws: CacheError.self) { try await writer.commit(trailers: [:]) }
    #expect(error?.code == .unavailable)
    try await until { try fixture.directory.bodyFiles().isEmpty }
    #expect(try await other.verify(repair: false).isSound)
    #expect(other.usage.diskEntries == 0)
  }

  @Test("a resumable body has a row from its first block on, until its writer is abandoned")
  func checkpoints() async throws {
    let fixture = try Fixture(largestEntry: .bytes(16 << 20))
    let other = try fixture.other()
    let large = bytes(10_000_000)
    let writer = try await fixture.store.write(try resumable("/a", 12_000_000), variantLimit: 8)
    var seen: [Int64] = []
    for start in stride(from: 0, to: large.count, by: 100_000) {
      try await writer.append(BodyBytes(large[start..<start + 100_000]))
      let end = try other.ranges("/a")?.first?.upperBound ?? 0
      if seen.last ?? 0 != end { seen.append(end) }
    }
    #expect(
      seen == [
        262_144, 524_288, 786_432, 1_048_576, 1_310_720, 1_835_008, 2_359_296, 3_145_728, 3_932_160,
        4_980_736, 6_291_456, 7_864_320, 9_961_472,
      ])
    #expect(try await other.bytes("/a", 0..<4_000_000) == Array(large[..<4_000_000]))
    #expect(try await other.verify(repair: true).isSound)
    let part = try #require(try other.read(key("/a")).first).record
    let error = await #expect(throws: CacheError.self) { _ = try await other.extend(part, at: 0) }
    #expect(error?.code == .unavailable)
    writer.abandon()
    try await until { try fixture.directory.bodyFiles().isEmpty }
    #expect(try other.read(key("/a")).isEmpty)
    await fixture.store.flush()
    #expect(other.usage.diskEntries == 0)
  }

  @Test("of two resumable bodies of one variant the last one stored wins, whatever the other did")
  func rivals() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    let rival = bytes(2_000_000, seed: 2)
    let first = try await fixture.store.write(try resumable("/a", 2_000_000), variantLimit: 8)
    let second = try await other.write(try resumable("/a", 2_000_000), variantLimit: 8)
    try await first.append(BodyBytes(body[..<1_000_000]))
    try await second.append(BodyBytes(rival[..<1_000_000]))
    // The first writer has a row; the second writer does not replace it.
    #expect(try await other.bytes("/a", 0..<10) == Array(body[..<10]))
    try await second.append(BodyBytes(rival[1_000_000...]))
    try await second.commit(trailers: [:])
    #expect(try await fixture.store.body(key("/a")) == rival)
    try await first.append(BodyBytes(body[1_000_000...]))
    try await first.commit(trailers: [:])
    #expect(try await other.body(key("/a")) == body)
    try await until { try fixture.directory.bodyFiles().count == 1 }
    #expect(try await other.verify(repair: false).isSound)
    #expect(other.usage.diskEntries == 1)
  }

  @Test("a body that was removed while it was being written is stored when it is complete")
  func removedWhileWriting() async throws {
    let fixture = try Fixture()
    let writer = try await fixture.store.write(try resumable("/a", 2_000_000), variantLimit: 8)
    try await writer.append(BodyBytes(body[..<1_000_000]))
    #expect(try await fixture.store.remove(.all) == 1)
    try await writer.append(BodyBytes(body[1_000_000...]))
    try await writer.commit(trailers: [:])
    #expect(try await fixture.store.body(key("/a")) == body)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("usage counts received bytes once, whether a row has them or not")
  func usage() async throws {
    let fixture = try Fixture(largestEntry: .bytes(16 << 20))
    await fixture.store.flush()
    let before = fixture.store.usage.diskBytes
    let writer = try await fixture.store.write(try resumable("/a", 12_000_000), variantLimit: 8)
    for index in 1...70 {
      try await writer.append(BodyBytes(bytes(100_000)))
      let grown = fixture.store.usage.diskBytes - before
      #expect(grown >= Int64(index) * 100_000)
      #expect(grown < Int64(index) * 100_000 + 300_000)
    }
    try await writer.keep()
    await fixture.store.flush()
    let kept = fixture.store.usage.diskBytes - before
    #expect(kept >= 7_000_000 && kept < 7_100_000)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("partial bodies are evicted like whole bodies, and leave no files")
  func eviction() async throws {
    // Space for eight partial bodies beside the store's own files, so that each new one evicts another.
    let fixture = try Fixture(capacity: 8_700_000, largestEntry: .bytes(2 << 20))
    for index in 0..<20 {
      _ = try fixture.store.read(key("/\(index)"))
      try await fixture.store.putPart("/\(index)", body, 300_000..<1_300_000)
    }
    let count = fixture.store.usage.diskEntries
    #expect(count >= 3 && count <= 8)
    #expect(try fixture.directory.bodyFiles().count == count)
    #expect(
      try fixture.number("SELECT count(DISTINCT entry) FROM block") == Int64(count))
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("a body that comes in small parts does not make many pieces")
  func fragments() async throws {
    let fixture = try Fixture()
    try await fixture.store.putPart("/a", body, 262_000..<262_010)
    for index in 1..<500 {
      try await fixture.store.addPart("/a", body, 262_000 + 10 * index..<262_010 + 10 * index)
    }
    // All added bytes are in two blocks.
    #expect(try fixture.number("SELECT length(pieces) / 16 FROM block") == 2)
    let found = try await fixture.store.bytes("/a", 262_000..<267_000)
    #expect(found == Array(body[262_000..<267_000]))
    #expect(try await fixture.store.verify(repair: false).isSound)
    try await fixture.store.addPart("/a", body, 0..<2_000_000)
    #expect(try await fixture.store.body(key("/a")) == body)
  }

  @Test("positions beyond the limit are refused")
  func farAway() async throws {
    let fixture = try Fixture()
    for start in [Int64.max - 10, 1 << 61] {
      let record = try record("/a").storing([start..<start + 10], bodyLength: nil)
      let error = await #expect(throws: CacheError.self) {
        try await fixture.store.put(record, [1, 2])
      }
      #expect(error?.code == .tooLarge)
    }
    let part = try await fixture.store.putPart("/b", body, 0..<10)
    for offset in [Int64.max, -1, .min] {
      let writer = try? await fixture.store.extend(part, at: offset)
      try? await writer?.append(BodyBytes([1, 2, 3]))
      writer?.abandon()
    }
    #expect(try fixture.store.ranges("/b") == [0..<10])
  }
}
