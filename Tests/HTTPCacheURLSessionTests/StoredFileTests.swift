import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

@Suite(.timeLimit(.minutes(10))) struct StoredFileTests {
  private static let fresh = [("Cache-Control", "max-age=60")]

  @Test func whereAStoredBodyLies() async throws {
    let folder = try ScratchFolder()
    let test = try TestSession(directory: folder.path("cache")) { _ in .text("body", Self.fresh) }
    #expect(try await test.session.fileURL(for: test.request("/")) == nil)
    _ = try await test.get("/")
    let url = try #require(try await test.session.fileURL(for: test.request("/")))
    #expect(try Data(contentsOf: url) == Data("body".utf8))
    let file = try #require(try await test.session.file(for: test.request("/")))
    #expect(try Data(contentsOf: file.url) == Data("body".utf8))
    #expect(test.origin.requests.count == 1)
  }

  @Test func oneFileForEachEntryWhileItIsHeld() async throws {
    let folder = try ScratchFolder()
    for directory in [folder.path("cache"), nil] {
      let test = try TestSession(directory: directory) { .text($0.path, Self.fresh) }
      _ = try await test.get("/a")
      _ = try await test.get("/b")
      let url = try #require(try await test.session.fileURL(for: test.request("/a")))
      for _ in 0..<5 { #expect(try await test.session.fileURL(for: test.request("/a")) == url) }
      #expect(try await test.session.fileURL(for: test.request("/b")) != url)
      let files = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
      #expect(files.count == 2)
      var held = try await test.cache.file(for: HTTPRequest(test.request("/b")))
      let other = try await test.cache.file(for: HTTPRequest(test.request("/b")))
      #expect(held?.path == other?.path)
      held?.close()
      held = nil
      #expect(try other.map { try Data(contentsOf: $0.url) } == Data("/b".utf8))
    }
  }

  @Test func aFileThatNobodyHoldsIsRemoved() async throws {
    let test = try TestSession { _ in .text("body", Self.fresh) }
    _ = try await test.get("/")
    let path = try await test.session.file(for: test.request("/"))?.path
    #expect(!FileManager.default.fileExists(atPath: try #require(path)))
    let url = try #require(try await test.session.fileURL(for: test.request("/")))
    try FileManager.default.removeItem(at: url)
    let again = try #require(try await test.session.fileURL(for: test.request("/")))
    #expect(try Data(contentsOf: again) == Data("body".utf8))
  }

  @Test func anotherHostIsAnotherSite() async throws {
    let test = try TestSession { .text($0["Host"] ?? "", Self.fresh) }
    let other = test.request("/", ["Host": "other.example"])
    var texts: [String] = []
    for try await case .response(let data, _) in try test.session.responses(to: other) {
      texts.append(String(decoding: data, as: UTF8.self))
    }
    #expect(texts == ["other.example"])
    #expect(try await test.get("/").text.hasPrefix("127.0.0.1"))
    #expect(try await test.session.file(for: other) == nil)
  }

  @Test func theStoredResponseThenTheNewOne() async throws {
    let test = try TestSession { .text("number \($0.number)", Self.fresh) }
    _ = try await test.get("/")
    test.clock.advance(by: 100)
    var texts: [String] = []
    var outcomes: [CacheOutcome?] = []
    for try await case .response(let data, let response) in try test.session.responses(to: test.request("/"))
    {
      texts.append(String(decoding: data, as: UTF8.self))
      outcomes.append(response.cacheOutcome)
    }
    #expect(texts == ["number 1", "number 2"])
    #expect(outcomes.count == 2 && outcomes.allSatisfy { $0 != nil })
  }

  @Test func oneResponseWhereNothingHasChanged() async throws {
    let test = try TestSession { .tagged("\"a\"", $0, .text("same", Self.fresh)) }
    _ = try await test.get("/")
    test.clock.advance(by: 100)
    var count = 0
    for try await _ in try test.session.responses(to: test.request("/")) { count += 1 }
    #expect(count == 1)
    #expect(test.origin.requests.count == 2)
  }
}
