import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("What a folder answers is answered in every form", .timeLimit(.minutes(10)))
struct OtherTargetsTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func source() throws -> FolderSeed {
    for name in [
      "example.com/index.html", "example.com/a/index.html", "example.com/b.txt", "example.com/c",
      "example.com_8080/d.css", "example.com/e.html_q=1",
    ] {
      try folder.write("content/" + name, name)
    }
    return try FolderSeed(path: folder.path + "/content")
  }

  private static let targets = [
    "example.com/", "example.com/index.html", "example.com/a", "example.com/a/", "example.com/a/index.html",
    "example.com/b.txt", "example.com/b.txt/", "example.com/c", "example.com:8080/d.css",
    "example.com/e.html?q=1",
  ].flatMap { ["http://" + $0, "https://" + $0] }

  @Test("http and https, with a slash at the end and without", arguments: ExportForm.allCases)
  func forms(_ form: ExportForm) async throws {
    let source = try source()
    let path = folder.path + "/copy"
    try await form.write(source, to: path)
    let copy = try Seeds.open(path: path)
    for target in Self.targets {
      let text = try #require(try await source.text(target), "\(target)")
      #expect(try await copy.text(target) == text, "\(target)")
    }
    // Nothing else: a target that the folder does not answer.
    #expect(try await copy.text("https://example.com/c/") == nil)
  }

  @Test("from form to form to form nothing is lost")
  func chain() async throws {
    var current: any SeedSource = try source()
    for (number, form) in [ExportForm.archive, .folder, .warc, .har, .folder, .archive].enumerated() {
      let path = "\(folder.path)/\(number)"
      try await form.write(current, to: path)
      current = try Seeds.open(path: path)
    }
    for target in Self.targets { #expect(try await current.text(target) != nil, "\(target)") }
  }

  @Test("a recorded head answers its own target alone")
  func recorded() async throws {
    try folder.write("one/example.com/a.txt", "a")
    try folder.write(
      "one/seeds.jsonl",
      #"{"target":"https://example.com/a.txt","file":"example.com/a.txt","status":200,"fields":[]}"#)
    let source = try FolderSeed(path: folder.path + "/one")
    #expect(try source.responses(from: 0, limit: 9).allSatisfy { $0.otherTargets.isEmpty })
  }

  @Test(
    "every target can be unpacked",
    arguments: [
      "https://example.com/login?next=/account/", "https://example.com/r?u=%2Fa%2F",
      "https://example.com/a?b=//c",
      "https://example.com/a?/../../x", "https://example.com/?/", "https://example.com/a/?x/",
      "https://example.com/?.",
      "https://example.com/a?%00", "https://example.com/%2F/",
      "https://example.com/a?x=" + String(repeating: "y", count: 900),
      "https://example.com//a//", "https://example.com/a/.", "https://example.com/%2E%2E%2F?..",
      "https://seeds.jsonl/",
      "https://_more/1",
    ])
  func unpacks(_ target: String) async throws {
    let target = try #require(TargetURI.normalized(target))
    let others = [target, "https://example.com/z.txt"].map {
      #"{"target":"\#($0)","file":"example.com/z.txt","status":200,"fields":[]}"#
    }
    try folder.write("two/example.com/z.txt", "text")
    try folder.write("two/seeds.jsonl", others.joined(separator: "\n"))
    let path = folder.path + "/unpacked"
    try await FolderWriter.write(try FolderSeed(path: folder.path + "/two"), to: path)
    let copy = try FolderSeed(path: path)
    #expect(try await copy.text(target) == "text")
    #expect(try await copy.text("https://example.com/z.txt") == "text")
  }
}
