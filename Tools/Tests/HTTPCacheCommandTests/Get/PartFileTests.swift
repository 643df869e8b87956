import Foundation
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// Part files that were cut, belong to another response, or were planted.
@Suite(.timeLimit(.minutes(10))) struct PartFileTests {
  private static let content = ServedFile.bytes(50_000)

  /// A directory with the part file of a transfer that broke off, and its origin.
  private func withPart(
    _ body: (ScriptOrigin, TemporaryDirectory, _ part: String) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let counter = AnswerCounter()
    var file = ServedFile(content: Self.content, fields: "Cache-Control: no-store")
    let whole = file
    file.cut = 20_000
    let origin = try await ScriptOrigin { [file] in (counter.next() == 1 ? file : whole).answer($0) }
    _ = await get(origin, directory)
    try await body(origin, directory, directory.file("out.httpcache-part"))
    try await origin.close()
  }

  private func get(_ origin: ScriptOrigin, _ directory: TemporaryDirectory, path: String = "/file") async
    -> CommandRun
  {
    await CommandRun(
      "get", origin.base + path, "--dir", directory.file("cache"), "-o", directory.file("out"))
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  @Test("a part file that was cut is continued from its remaining bytes")
  func cut() async throws {
    try await withPart { origin, directory, part in
      #expect(truncate(part + "/body", 5) == 0)
      let run = await get(origin, directory)
      #expect(run.status == 0)
      #expect(origin.requests.last?.start == 5)
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test("a part that is longer than the response, or empty, is not continued")
  func longer() async throws {
    for count in [0, 50_001] {
      try await withPart { origin, directory, part in
        try write([UInt8](repeating: 7, count: count), to: part + "/body")
        let run = await get(origin, directory)
        #expect(run.status == 0)
        #expect(origin.requests.last?.start == nil)
        #expect(directory.contents("out") == Self.content)
      }
    }
  }

  @Test("a complete part file is validated by requesting its last byte")
  func complete() async throws {
    try await withPart { origin, directory, part in
      try write(Self.content, to: part + "/body")
      let run = await get(origin, directory)
      #expect(run.status == 0, "\(run.errors)")
      #expect(origin.requests.last?.start == 49_999)
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test("a part of another URL is not continued")
  func otherURL() async throws {
    try await withPart { origin, directory, _ in
      let run = await get(origin, directory, path: "/other")
      #expect(run.status == 0)
      #expect(origin.requests.last?.start == nil)
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test(
    "a record that is none, or of no strong validator, is not used",
    arguments: [
      "", "{", "[]", "{\"version\":2}",
      #"{"version":1,"url":"URL","target":"URL","length":50000,"received":0,"isInsecure":false,"fields":[]}"#,
      #"{"version":1,"url":"URL","target":"URL","length":-1,"received":0,"isInsecure":false,"fields":[{"name":"etag","value":"\"v1\""}]}"#,
      #"{"version":1,"url":"URL","target":"URL","length":50000,"received":0,"isInsecure":false,"fields":[{"name":"etag","value":"W/\"v1\""}]}"#,
    ])
  func record(text: String) async throws {
    try await withPart { origin, directory, part in
      let json = text.replacing("URL", with: origin.base + "/file")
      try write(Array(json.utf8), to: part + "/about.json")
      let run = await get(origin, directory)
      #expect(run.status == 0)
      #expect(origin.requests.last?.start == nil)
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test("a link in place of the folder or of its files is never followed")
  func links() async throws {
    for name in ["", "/body", "/about.json"] {
      try await withPart { origin, directory, part in
        try write(Array("precious".utf8), to: directory.file("precious"))
        try FileManager.default.removeItem(atPath: part + name)
        #expect(symlink(directory.file("precious"), part + name) == 0)
        let run = await get(origin, directory)
        #expect(run.status == 0, "\(run.errors)")
        #expect(directory.contents("precious") == Array("precious".utf8))
        #expect(directory.contents("out") == Self.content)
      }
    }
  }

  @Test("another name of a file in the place of the body is left alone")
  func hardLink() async throws {
    try await withPart { origin, directory, part in
      try write(Array("precious".utf8), to: directory.file("precious"))
      #expect(unlink(part + "/body") == 0)
      #expect(link(directory.file("precious"), part + "/body") == 0)
      let run = await get(origin, directory)
      #expect(run.status == 0, "\(run.errors)")
      #expect(directory.contents("precious") == Array("precious".utf8))
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test("a folder that others may write to is not continued", arguments: [mode_t(0o777), 0o720])
  func openFolder(mode: mode_t) async throws {
    try await withPart { origin, directory, part in
      #expect(chmod(part, mode) == 0)
      let run = await get(origin, directory)
      #expect(run.status == 0)
      #expect(origin.requests.last?.start == nil)
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test("a folder of another user is neither used nor touched", .enabled(if: geteuid() == 0))
  func foreignFolder() async throws {
    try await withPart { origin, directory, part in
      #expect(chown(part, 1234, 1234) == 0)
      let run = await get(origin, directory)
      #expect(run.status == 0)
      #expect(origin.requests.last?.start == nil)
      #expect(directory.contents("out.httpcache-part/body")?.count == 20_000)
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test("the folder of a running process is left alone, and that of a killed process is removed")
  func locks() async throws {
    let directory = try TemporaryDirectory()
    let base = directory.file("out")
    let held = try PartFile(beside: base)
    try held.begin(nil)
    let second = try PartFile(beside: base)
    #expect(second.path == base + ".httpcache-part-2")
    second.remove()
    #expect(mkdir(base + ".httpcache-part-3", 0o700) == 0)
    try await DemoOrigin.withOrigin { origin in
      let run = await CommandRun(
        "get", origin.base + DemoResource.page.rawValue, "--dir", directory.file("cache"), "-o", base)
      #expect(run.status == 0)
    }
    #expect(directory.contents("out") == DemoResource.page.block)
    #expect(access(held.path + "/body", F_OK) == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(Set(names) == ["cache", "out", "out.httpcache-part"])
    held.remove()
  }

  @Test("the folder of a file with the longest possible name has a short name")
  func longName() {
    let name = String(repeating: "n", count: 255)
    #expect(PartFile.path(beside: "a/" + name).utf8.count < 50)
    #expect(PartFile.path(beside: "a/b", 2) == "a/b.httpcache-part-2")
  }

  @Test("a file that cannot be replaced in its folder is written in place once the body is complete")
  func inPlace() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("file")
    try write(Array("an old and longer body".utf8), to: path)
    var before = stat()
    #expect(lstat(path, &before) == 0)
    let part = try PartFile(beside: directory.file("spool"))
    #expect(Foundation.write(part.descriptor, "new", 3) == 3)
    try ReplacedFile(path: path, existing: before).replace(with: part.descriptor) { _ in
      errno = EACCES
      return false
    }
    #expect(directory.contents("file") == Array("new".utf8))
    part.remove()
  }

  @Test(
    "behind a redirect, a part belongs to the same address up to its query, by its entity tag",
    arguments: [
      ("http://a/x?sig=2", true), ("http://a/x?sig=1", true), ("http://a/y?sig=1", false),
      ("http://b/x", false),
    ])
  func redirects(target: String, isSame: Bool) throws {
    func record(_ name: String, _ value: String, url: String) -> PartRecord? {
      guard let name = HTTPField.Name(name), let date = HTTPField.Name("Date") else { return nil }
      var head = HTTPResponse(status: .ok)
      head.headerFields[name] = value
      head.headerFields[date] = "Tue, 15 Nov 1994 12:45:26 GMT"
      return PartRecord(
        url: url, target: "http://a/x?sig=1", head: head, length: 9, now: Timestamp(seconds: 784_903_526))
    }
    let tagged = try #require(record("ETag", "\"1\"", url: "http://a/start"))
    #expect(tagged.isSame(target: target) == isSame)
    let dated = try #require(record("Last-Modified", "Tue, 15 Nov 1994 08:12:31 GMT", url: "http://a/start"))
    #expect(dated.isSame(target: target) == (target == "http://a/x?sig=1"))
    let direct = try #require(record("ETag", "\"1\"", url: "http://a/x?sig=1"))
    #expect(direct.isSame(target: target) == (target == "http://a/x?sig=1"))
  }

  @Test("a policy that forbids asking the origin leaves a part as it is, and reload begins anew")
  func policies() async throws {
    try await withPart { origin, directory, part in
      func run(_ policy: String) async -> CommandRun {
        await CommandRun(
          "get", origin.base + "/file", "--dir", directory.file("cache"), "-o", directory.file("out"),
          "--policy", policy)
      }
      #expect(await run("cache-only").status == ExitStatus.notStored.rawValue)
      #expect(directory.contents("out.httpcache-part/body")?.isEmpty == false)
      #expect(await run("reload").status == 0)
      #expect(origin.requests.map(\.start) == [nil, nil])
      #expect(directory.contents("out") == Self.content)
    }
  }

  @Test("a rest that is shorter or longer than its range never passes for complete", arguments: [-1, 1])
  func wrongLength(change: Int) async throws {
    let directory = try TemporaryDirectory()
    let counter = AnswerCounter()
    var file = ServedFile(content: Self.content, fields: "Cache-Control: no-store")
    file.cut = 20_000
    let origin = try await ScriptOrigin { [file] request in
      if counter.next() == 1 { return file.answer(request) }
      let start = request.start ?? 0
      let rest = Array(Self.content[start...].dropLast(change < 0 ? 1 : 0)) + (change > 0 ? [0] : [])
      return .init(
        head: "HTTP/1.1 206 Part\r\nContent-Range: bytes \(start)-49999/50000\r\nETag: \"v1\"\r\n"
          + "Transfer-Encoding: chunked",
        body: Array("\(String(rest.count, radix: 16))\r\n".utf8) + rest + Array("\r\n0\r\n\r\n".utf8))
    }
    _ = await get(origin, directory)
    let run = await get(origin, directory)
    #expect(run.status == ExitStatus.brokenProtocol.rawValue)
    #expect(directory.contents("out") == nil)
    try await origin.close()
  }
}
