import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

@Suite(.timeLimit(.minutes(10))) struct DownloadTests {
  private static let length: Int64 = 3_000_000

  private func ranged(_ request: OriginRequest) -> OriginAnswer {
    .ranged(request, length: Self.length, tag: "\"a\"", [("Cache-Control", "max-age=60")])
  }

  private func isWhole(_ url: URL) throws -> Bool {
    try Array(Data(contentsOf: url)) == OriginAnswer.pattern(0..<Self.length)
  }

  @Test(arguments: [false, true])
  func intoAFileThenOutOfTheStore(_ onDisk: Bool) async throws {
    let folder = try ScratchFolder()
    let test = try TestSession(directory: onDisk ? folder.path("cache") : nil) { ranged($0) }
    let progress = Seen<DownloadProgress>()
    for name in ["first", "second"] {
      let response = try await test.session.download(
        for: test.request("/"), to: folder.url(name)
      ) { progress.add($0) }
      #expect(try isWhole(folder.url(name)))
      #expect(response.cacheOutcome != nil)
    }
    #expect(test.origin.requests.count == 1)
    #expect(progress.last == DownloadProgress(received: Self.length, expected: Self.length))
    #expect(progress.last?.fraction == 1)
    #expect(progress.all.allSatisfy { $0.expected == Self.length })
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(names).subtracting(["cache"]) == ["first", "second"])
  }

  @Test func whatIsThereIsReplacedAndKeepsNothingElse() async throws {
    let folder = try ScratchFolder()
    let target = folder.url("target")
    try Data("old".utf8).write(to: target)
    let test = try TestSession { _ in .text("new", [("Cache-Control", "no-store")]) }
    try await test.session.download(for: test.request("/"), to: target)
    #expect(try Data(contentsOf: target) == Data("new".utf8))
    let mode = { (url: URL) in
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber
    }
    let usual = folder.url("usual")
    #expect(FileManager.default.createFile(atPath: usual.path, contents: nil))
    #expect(try mode(target) == mode(usual))
  }

  @Test func aFailureLeavesTheDestination() async throws {
    let folder = try ScratchFolder()
    let target = folder.url("target")
    try Data("old".utf8).write(to: target)
    let test = try TestSession { request in
      request.path == "/404"
        ? .text("not here", status: 404)
        : OriginAnswer(steps: [.bytes([1, 2, 3]), .cut], framing: .length(10))
    }
    await #expect(throws: URLError.self) {
      try await test.session.download(for: test.request("/cut"), to: target)
    }
    await #expect { try await test.session.download(for: test.request("/404"), to: target) } throws: {
      ($0 as? UnexpectedStatus)?.response.statusCode == 404
    }
    await #expect(throws: CocoaError.self) {
      try await test.session.download(for: test.request("/404x"), to: folder.url("none/target"))
    }
    #expect(try Data(contentsOf: target) == Data("old".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["target"])
  }

  @Test(arguments: [204, 206])
  func whatIsNotTheWholeLeavesTheDestination(_ status: Int) async throws {
    let folder = try ScratchFolder()
    let target = folder.url("target")
    try Data("old".utf8).write(to: target)
    let test = try TestSession { _ in
      status == 204
        ? .status(204) : .text("new", [("Content-Range", "bytes 0-2/9")], status: 206)
    }
    await #expect(throws: UnexpectedStatus.self) {
      try await test.session.download(for: test.request("/"), to: target)
    }
    #expect(try Data(contentsOf: target) == Data("old".utf8))
  }

  @Test func aPartOfWhatBrokeOffAtAnUnknownLength() async throws {
    let folder = try ScratchFolder()
    let test = try TestSession(directory: folder.path("cache")) { _ in
      OriginAnswer(
        fields: [("ETag", "\"a\""), ("Cache-Control", "max-age=60")],
        steps: [.pattern(0..<1_000_000), .cut], framing: .chunked)
    }
    await #expect(throws: URLError.self) { try await test.get("/") }
    let target = folder.url("target")
    try await test.session.download(for: test.request("/", ["Range": "bytes=0-99"]), to: target)
    #expect(try Array(Data(contentsOf: target)) == OriginAnswer.pattern(0..<100))
    #expect(test.origin.requests.count == 1)
  }

  @Test func whatBrokeOffIsContinued() async throws {
    let folder = try ScratchFolder()
    let target = folder.url("target")
    let test = try TestSession(directory: folder.path("cache")) { request in
      guard request.number == 1 else { return ranged(request) }
      return OriginAnswer(
        fields: [
          ("ETag", "\"a\""), ("Accept-Ranges", "bytes"), ("Cache-Control", "max-age=60"),
        ], steps: [.pattern(0..<1_000_000), .cut], framing: .length(Self.length))
    }
    await #expect(throws: URLError.self) {
      try await test.session.download(for: test.request("/"), to: target)
    }
    try await test.session.download(for: test.request("/"), to: target)
    #expect(try isWhole(target))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(names) == ["cache", "target"])
    let second = test.origin.requests.last
    #expect(second?["Range"]?.hasPrefix("bytes=") == true)
    #expect(second?["Range"] != "bytes=0-")
    #expect(second?["If-Range"] == "\"a\"")
  }

  @Test func foundationsFormGivesAFileOfTheCallers() async throws {
    let test = try TestSession { _ in .text("not here", status: 404) }
    let (url, response) = try await test.session.download(for: test.request("/"))
    defer { try? FileManager.default.removeItem(at: url) }
    #expect(try Data(contentsOf: url) == Data("not here".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == 404)
  }

  @Test func aCancelledDownloadLeavesNothingBehind() async throws {
    let folder = try ScratchFolder()
    let test = try TestSession { _ in
      OriginAnswer(steps: [.bytes([1]), .hold(Latch())], framing: .length(2))
    }
    let download = Task {
      try await test.session.download(for: test.request("/"), to: folder.url("target"))
    }
    await test.origin.arrived(1)
    download.cancel()
    #expect(await urlErrorCode { _ = try await download.value } == .cancelled)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
