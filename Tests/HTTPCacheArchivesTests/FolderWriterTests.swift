import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("A folder written from a seed", .timeLimit(.minutes(10)))
struct FolderWriterTests {
  private let folder: ScratchFolder
  private let content: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
    content = try ScratchFolder()
  }

  /// A folder with these targets; each body is its target.
  private func source(_ targets: [String]) throws -> FolderSeed {
    var lines = ""
    for (number, target) in targets.enumerated() {
      try content.write("bodies/\(number)", target)
      lines += #"{"target":"\#(target)","file":"bodies/\#(number)","status":203,"received":5,"requested":4,"#
      lines += #""fields":[["Content-Type","a/b"],["ETag","\"\#(number)\""]]}"# + "\n"
    }
    try content.write("seeds.jsonl", lines)
    return try FolderSeed(path: content.path)
  }

  @Test("folder, archive, folder: every body and every field is kept")
  func roundTrip() async throws {
    let targets = [
      "https://example.com/", "https://example.com/index.html", "https://example.com/A.txt",
      "https://example.com/a.txt", "https://example.com/a.txt/b.txt", "https://example.com/a.txt?q=/../x",
      "https://example.com/a.txt?/../../../../../../escaped", "https://example.com/b.txt?//c",
      "https://example.com/" + String(repeating: "n", count: 300) + ".txt",
      "https://example.com/%C3%BC.txt", "https://example.com/%00", "https://example.com:8443/.git/a.txt",
    ]
    let source = try source(targets)
    try #require(source.count == targets.count)
    let archive = folder.path + "/content.hca"
    let writer = try ArchiveWriter(path: archive)
    try await writer.add(contentsOf: source)
    try await writer.finish()
    let written = folder.path + "/written"
    #expect(try await FolderWriter.write(try ArchiveSeed(path: archive), to: written) == targets.count)
    let again = try FolderSeed(path: written)
    #expect(again.notes.isEmpty && again.count == targets.count)
    for target in targets {
      let (one, other) = (try source.responses(to: target), try again.responses(to: target))
      try #require(one.count == 1 && other.count == 1, "\(target)")
      #expect(one[0].response == other[0].response, "\(target)")
      #expect(try await other[0].text() == target)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["content.hca", "written"])
    #expect(
      try String(contentsOfFile: written + "/example.com/index.html", encoding: .utf8).hasPrefix("https"))
  }

  @Test(
    "every response is written, also those whose host or path has a name of the writer or of another file")
  func reservedNames() async throws {
    let targets = [
      "https://seeds.jsonl/", "https://seeds.jsonl/a.txt", "https://_more/1", "https://_more/1/2.txt",
      "https://example.com/index.html/a.txt", "https://example.com/", "https://example.com/%C3%A9.txt",
      "https://example.com/e%CC%81.txt", "https://example.com/STRASSE.txt",
      "https://example.com/stra%C3%9Fe.txt", "https://example.com/%C5%BFa.txt", "https://example.com/sa.txt",
      "https://example.com/" + repeatElement("d", count: 100).joined(separator: "/"),
      "https://example.com/%0A%1B%5B31m.txt", "https://example.com/%E2%80%AEtxt.exe",
    ]
    let source = try source(targets)
    try #require(source.count == targets.count)
    let written = folder.path + "/written"
    #expect(try await FolderWriter.write(source, to: written) == targets.count)
    let again = try FolderSeed(path: written, options: FolderSeed.Options(ignoresCase: true))
    #expect(again.notes.isEmpty && again.count == targets.count)
    for target in targets { #expect(try await again.text(target) == target) }
    // On a file system that ignores case and normal form, each file has a name of its own.
    let names = try FileManager.default.subpathsOfDirectory(atPath: written)
    #expect(Set(names.map { $0.uppercased().lowercased() }).count == names.count)
    #expect(names.filter { $0.lowercased().hasPrefix("seeds.jsonl") } == ["seeds.jsonl"])
    #expect(!names.contains { $0.unicodeScalars.contains { "\n\u{1B}\u{202E}".unicodeScalars.contains($0) } })
  }

  @Test("two writings of one source are equal")
  func deterministic() async throws {
    let source = try source(["https://example.com/", "https://example.com/a.txt"])
    for name in ["one", "two"] { try await FolderWriter.write(source, to: folder.path + "/" + name) }
    let files = try ["one", "two"].map {
      try Data(contentsOf: folder.url.appendingPathComponent("\($0)/seeds.jsonl"))
    }
    #expect(files[0] == files[1] && !files[0].isEmpty)
  }

  @Test("a folder and an archive of a bundle, in one line")
  func bundled() async throws {
    let source = try source(["https://example.com/"])
    try await FolderWriter.write(source, to: folder.path + "/PreCache")
    let writer = try ArchiveWriter(path: folder.path + "/content.hca")
    try await writer.add(contentsOf: source)
    try await writer.finish()
    let bundle = try #require(Bundle(path: folder.path))
    #expect(try FolderSeed(bundled: "PreCache", in: bundle).count == 1)
    let seeds: [any SeedSource] = [
      try .bundle("PreCache", in: bundle), try .bundle("content.hca", in: bundle),
    ]
    #expect(seeds[0] is FolderSeed && seeds[1] is ArchiveSeed)
    #expect(seeds.map(\.count) == [1, 1])
    let none = #expect(throws: CacheError.self) { () throws(CacheError) -> any SeedSource in
      try .bundle("none", in: bundle)
    }
    #expect(none?.code == .unavailable)
  }

  @Test("an existing folder is not written to")
  func existing() async throws {
    let source = try source(["https://example.com/"])
    let error = await #expect(throws: CacheError.self) {
      try await FolderWriter.write(source, to: folder.path)
    }
    #expect("\(try #require(error))".contains("exists"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
