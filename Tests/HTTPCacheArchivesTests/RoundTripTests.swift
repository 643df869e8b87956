import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("From one form to the next", .timeLimit(.minutes(10)))
struct RoundTripTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// Texts of several kinds, bytes, a coded body, an empty one, variants, and a redirect.
  private func source() throws -> FolderSeed {
    let content = folder.path + "/content"
    try folder.write("content/example.com/index.html", "<html>é</html>")
    try folder.write("content/example.com/a.txt", "plain \"text\"\n\t\u{1}\u{1F600}")
    try folder.write("content/example.com/data.json", #"{"é": "\u0001body\u0001"}"#)
    try folder.write("content/example.com/latin.txt", "latin")
    try folder.write("content/example.com/empty.css", "")
    try folder.write("content/example.com/moved.txt", "")
    try folder.write("content/example.com/large.txt", String(repeating: "0123456789abcde\n", count: 300_000))
    try Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
      .write(to: URL(fileURLWithPath: content + "/example.com/bytes.bin"))
    func line(_ name: String, _ fields: String, _ rest: String = #""status":200"#) -> String {
      #"{"target":"https://example.com/\#(name)","file":"example.com/\#(name)","received":1500000000,"requested":1499999999,\#(rest),"fields":[\#(fields)]}"#
    }
    try folder.write(
      "content/seeds.jsonl",
      [
        line(
          "a.txt",
          #"["Vary","Accept-Language"],["ETag","\"en\""],["Content-Type","text/plain; charset=utf-8"]"#,
          #""status":200,"request":[["Accept-Language","en"]]"#),
        line(
          "a.txt", #"["Vary","Accept-Language"],["ETag","\"de\""],["X-A","1"],["X-A","2"]"#,
          #""status":200,"request":[["Accept-Language","de"]]"#),
        line("latin.txt", #"["Content-Type","text/plain; charset=iso-8859-1"],["Content-Encoding","gzip"]"#),
        line("moved.txt", #"["Location","/a.txt"]"#, #""status":301"#),
        line("data.json", #"["Content-Type","application/json"],["Cache-Control","max-age=60"]"#),
      ].joined(separator: "\n"))
    return try FolderSeed(path: content)
  }

  private func archive(_ source: any SeedSource, _ name: String) async throws -> ArchiveSeed {
    let writer = try ArchiveWriter(path: folder.path + "/" + name)
    try await writer.add(contentsOf: source)
    try await writer.finish()
    return try ArchiveSeed(path: folder.path + "/" + name)
  }

  private func expectEqual(_ one: any SeedSource, _ other: any SeedSource, ignoringTimes: Bool = false)
    async throws
  {
    #expect(one.count == other.count)
    for target in Set(try one.responses(from: 0, limit: 99).map(\.target)).sorted() {
      let sort = { (list: [SeedResponse]) in
        list.sorted { "\($0.response.nominated)" < "\($1.response.nominated)" }
      }
      let pairs = zip(sort(try one.responses(to: target)), sort(try other.responses(to: target)))
      for (one, other) in pairs {
        #expect(try await one.bytes() == other.bytes(), "\(target)")
        #expect(one.response.head == other.response.head, "\(target)")
        #expect(one.response.nominated == other.response.nominated, "\(target)")
        #expect(one.response.responseTime == other.response.responseTime, "\(target)")
        if !ignoringTimes { #expect(one.response.requestTime == other.response.requestTime, "\(target)") }
      }
    }
  }

  @Test(
    "folder, archive, WARC, HAR and archive keep every body and field", arguments: ["a.warc", "a.warc.gz"])
  func whole(_ name: String) async throws {
    let (warc, har) = (folder.path + "/" + name, folder.path + "/a.har")
    let first = try await archive(try source(), "first.hca")
    #expect(try await WARCWriter.write(first, to: warc) == first.count)
    let second = try RecordingSeed(path: warc)
    #expect(second.notes.isEmpty)
    // A WARC record has one time.
    try await expectEqual(first, second, ignoringTimes: true)
    #expect(try await HARWriter.write(first, to: har) == first.count)
    let third = try RecordingSeed(path: har)
    #expect(third.notes.isEmpty)
    try await expectEqual(first, third)
    try await expectEqual(first, try await archive(third, "last.hca"))
    try await FolderWriter.write(third, to: folder.path + "/folder")
    try await expectEqual(first, try Seeds.open(path: folder.path + "/folder"))
  }

  @Test("equal responses make equal files", arguments: ["a.warc", "a.warc.gz", "a.har"])
  func deterministic(_ name: String) async throws {
    let source = try source()
    var files: [Data] = []
    for path in [folder.path + "/1" + name, folder.path + "/2" + name] {
      if name.hasSuffix("har") {
        try await HARWriter.write(source, to: path)
      } else {
        try await WARCWriter.write(source, to: path)
      }
      files.append(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
    #expect(files[0] == files[1])
  }

  @Test("the kind of a file is told by its content")
  func kinds() async throws {
    let source = try source()
    for (name, write) in [("1", HARWriter.write), ("2", WARCWriter.write)] {
      _ = try await write(source, folder.path + "/" + name)
      #expect(try Seeds.open(path: folder.path + "/" + name) is RecordingSeed)
    }
    _ = try await archive(source, "3")
    #expect(try Seeds.open(path: folder.path + "/3") is ArchiveSeed)
    #expect(try Seeds.open(path: folder.path + "/content") is FolderSeed)
    #expect(throws: CacheError.self) { try Seeds.open(path: folder.path + "/none") }
  }
}

extension SeedResponse {
  fileprivate func bytes() async throws -> [UInt8] {
    let reader = try body.open()
    var bytes: [UInt8] = []
    while Int64(bytes.count) < bodyLength {
      bytes += try await reader.read(Int64(bytes.count)..<bodyLength).array
    }
    return bytes
  }
}
