import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("An archive of responses", .timeLimit(.minutes(10)))
struct ArchiveTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private var archive: String { folder.path + "/content.hca" }

  /// A folder with a recorded head, two plain files, and a body of several blocks.
  private func source() throws -> FolderSeed {
    let content = try ScratchFolder()
    try content.write("example.com/index.html", "<html>front</html>")
    try content.write("example.com/a.txt", "plain")
    try content.write("example.com/large.bin", String(repeating: "0123456789abcdef", count: 10_000))
    try content.write("example.com/empty.txt", "")
    let line =
      #"{"target":"https://example.com/a.txt","file":"example.com/a.txt","status":200,"received":1500000000,"#
    try content.write(
      "seeds.jsonl",
      line + #""fields":[["Vary","Accept-Language"],["ETag","\"en\""]],"request":[["Accept-Language","en"]]}"#
        + "\n"
        + line
        + #""fields":[["Vary","Accept-Language"],["ETag","\"de\""]],"request":[["Accept-Language","de"]]}"#)
    folders.append(content)
    return try FolderSeed(path: content.path)
  }

  private let folders = Kept()

  private final class Kept: @unchecked Sendable {
    // @unchecked Sendable because each test has its own and uses it in one task.
    private var list: [ScratchFolder] = []
    func append(_ folder: ScratchFolder) { list.append(folder) }
  }

  private func pack(_ source: any SeedSource, to path: String? = nil) async throws {
    let writer = try ArchiveWriter(path: path ?? archive)
    try await writer.add(contentsOf: source)
    try await writer.finish()
  }

  private func bytes(_ path: String? = nil) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path ?? archive))
  }

  private func isEqual(_ one: SeedResponse, _ other: SeedResponse) async throws -> Bool {
    let text = try await one.text()
    return try await text == other.text() && one.response == other.response && one.target == other.target
  }

  @Test("keeps every head, body, variant and time")
  func roundTrip() async throws {
    let source = try source()
    try await pack(source)
    let seed = try ArchiveSeed(path: archive)
    let others = try source.responses(from: 0, limit: 9).reduce(0) { $0 + $1.otherTargets.count }
    #expect(seed.count == 5 + others && seed.newest == source.newest)
    for target in Set(try source.responses(from: 0, limit: 9).map(\.target)) {
      let (one, other) = (try source.responses(to: target), try seed.responses(to: target))
      #expect(one.count == other.count)
      for (one, other) in zip(one, other) { #expect(try await isEqual(one, other), "\(target)") }
    }
    #expect(try seed.responses(to: "https://example.com/none").isEmpty)
    #expect(await seed.verify().isEmpty)
  }

  @Test("equal input makes equal bytes, also from an archive")
  func deterministic() async throws {
    let source = try source()
    try await pack(source)
    try await pack(source, to: archive + "2")
    #expect(try bytes() == bytes(archive + "2"))
    try await pack(try ArchiveSeed(path: archive), to: archive + "3")
    try await pack(try ArchiveSeed(path: archive + "3"), to: archive + "4")
    #expect(try bytes(archive + "3") == bytes(archive + "4"))
  }

  @Test("reads ranges of any place, and tells which bytes were checked")
  func ranges() async throws {
    try await pack(try source())
    let found = try #require(
      try ArchiveSeed(path: archive).responses(to: "https://example.com/large.bin").first)
    let whole = Array(String(repeating: "0123456789abcdef", count: 10_000).utf8)
    let reader = try found.body.open()
    #expect(!reader.isVerified(0..<10))
    for range in [0..<10, 65_530..<65_540, 131_072..<131_073, 159_999..<160_000, 0..<160_000, 100..<100] {
      let read = try await reader.read(Int64(range.lowerBound)..<Int64(range.upperBound))
      #expect(read.array == Array(whole[range]))
    }
    #expect(try await reader.read(159_990..<170_000).count == 10)
    #expect(reader.isVerified(0..<160_000) && !reader.isVerified(0..<160_001))
    let region = try #require(reader.fileRegion)
    #expect(region.count == 160_000 && !region.isVerified)
    #expect(try bytes()[Int(region.offset)..<Int(region.offset) + 16] == Data("0123456789abcdef".utf8))
    try await reader.clone(to: archive + ".copy")
    #expect(try bytes(archive + ".copy") == Data(whole))
  }

  @Test("cut at any place, it is refused")
  func cut() async throws {
    let content = try ScratchFolder()
    try content.write("example.com/a.txt", "plain")
    try await pack(try FolderSeed(path: content.path))
    let whole = try bytes()
    for length in 0..<whole.count {
      try whole.prefix(length).write(to: URL(fileURLWithPath: archive))
      #expect(throws: CacheError.self, "\(length) bytes") { try ArchiveSeed(path: archive) }
    }
    try (whole + Data([0])).write(to: URL(fileURLWithPath: archive))
    #expect(throws: CacheError.self) { try ArchiveSeed(path: archive) }
  }

  @Test("with any byte flipped, it answers nothing wrong, and verify tells")
  func flipped() async throws {
    let content = try ScratchFolder()
    try content.write("example.com/a.txt", "plain")
    try content.write("example.com/b.txt", "other")
    try await pack(try FolderSeed(path: content.path))
    let whole = try bytes()
    var count = 0
    for index in whole.indices {
      for mask in [UInt8(1), 0x80] {
        var damaged = whole
        damaged[index] ^= mask
        try damaged.write(to: URL(fileURLWithPath: archive))
        guard let seed = try? ArchiveSeed(path: archive) else { continue }
        // A body is that of all URLs that the file answers.
        #expect(await [1, 4].contains(seed.verify().count), "byte \(index)")
        for (name, text) in [("a", "plain"), ("b", "other")] {
          guard let found = try? await seed.text("https://example.com/\(name).txt") else { continue }
          #expect(found == text, "byte \(index)")
          count += 1
        }
      }
    }
    #expect(count > 0, "a flipped byte of one body leaves the other")
  }

  @Test("an entry that points outside of the file is refused, with any number that its checksum confirms")
  func hostileTable() async throws {
    let content = try ScratchFolder()
    try content.write("example.com/a.txt", "plain")
    try await pack(try FolderSeed(path: content.path))
    let whole = Array(try bytes())
    let table = whole.count - 64 - 40
    for word in 1...4 {
      for value in [UInt64.max, UInt64(Int64.max), UInt64(Int64.max) - 40, UInt64(whole.count), 0, 1] {
        var bytes = whole
        for byte in 0..<8 {
          bytes[table + word * 8 + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
        }
        try Data(ArchiveSums.renewed(bytes)).write(to: URL(fileURLWithPath: archive))
        guard let seed = try? ArchiveSeed(path: archive) else { continue }
        #expect(await seed.verify().count == 1, "word \(word), value \(value)")
      }
    }
  }

  @Test("other files are refused", arguments: ["", "short", String(repeating: "x", count: 200)])
  func otherFiles(_ text: String) throws {
    try folder.write("content.hca", text)
    #expect(throws: CacheError.self) { try ArchiveSeed(path: archive) }
    #expect(throws: CacheError.self) { try ArchiveSeed(path: folder.path) }
    #expect(throws: CacheError.self) { try ArchiveSeed(path: archive + ".none") }
  }

  @Test("an archive of a later version is told as such")
  func later() async throws {
    try await pack(try source())
    var bytes = try bytes()
    bytes[7] = UInt8(ascii: "2")
    try bytes.write(to: URL(fileURLWithPath: archive))
    let error = #expect(throws: CacheError.self) { try ArchiveSeed(path: archive) }
    #expect(error?.code == .newerFormat)
  }

  @Test("an archive that is not finished leaves no file, and no other file is touched")
  func unfinished() async throws {
    try folder.write("content.hca", "before")
    do {
      let writer = try ArchiveWriter(path: archive)
      try await writer.add(contentsOf: try source())
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["content.hca"])
    #expect(try bytes() == Data("before".utf8))
  }

  @Test("cookies are left out, and a response to a request with secrets is refused")
  func secrets() async throws {
    let source = try source()
    let seed = try #require(try source.responses(to: "https://example.com/a.txt").first)
    var response = seed.response
    response.head.headerFields[.setCookie] = "a=b"
    let writer = try ArchiveWriter(path: archive)
    let make = { (response: StoredResponse) in
      SeedResponse(
        target: seed.target, response: response, bodyLength: seed.bodyLength, body: seed.body, bodyPath: nil)
    }
    try await writer.add(make(response))
    response.nominated = [NominatedField(name: .authorization, value: .digest([1]))]
    let secret = make(response)
    await #expect(throws: CacheError.self) { try await writer.add(secret) }
    try await writer.finish()
    let read = try #require(try ArchiveSeed(path: archive).responses(from: 0, limit: 2).first)
    #expect(read.response.head.headerFields[.setCookie] == nil)
    await #expect(throws: CacheError.self) { try await writer.finish() }
  }
}
