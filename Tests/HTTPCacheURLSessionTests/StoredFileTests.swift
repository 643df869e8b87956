import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct StoredFileTests {
  private static let fresh = [("Cache-Control", "max-age=60")]

  @Test func whereAStoredBodyLies() async throws {
    let folder = try Folder()
    let kit = try Kit(directory: folder.file("cache").path) { _ in .text("body", Self.fresh) }
    #expect(try await kit.session.fileURL(for: kit.request("/")) == nil)
    _ = try await kit.get("/")
    let url = try #require(try await kit.session.fileURL(for: kit.request("/")))
    #expect(try Data(contentsOf: url) == Data("body".utf8))
    let file = try #require(try await kit.session.file(for: kit.request("/")))
    #expect(try Data(contentsOf: file.url) == Data("body".utf8))
    #expect(kit.origin.requests.count == 1)
  }

  @Test func anotherHostIsAnotherSite() async throws {
    let kit = try Kit { .text($0["Host"] ?? "", Self.fresh) }
    let other = kit.request("/", ["Host": "other.example"])
    var texts: [String] = []
    for try await case .response(let data, _) in try kit.session.responses(to: other) {
      texts.append(String(decoding: data, as: UTF8.self))
    }
    #expect(texts == ["other.example"])
    #expect(try await kit.get("/").text.hasPrefix("127.0.0.1"))
    #expect(try await kit.session.file(for: other) == nil)
  }

  @Test func theStoredResponseThenTheNewOne() async throws {
    let kit = try Kit { .text("number \($0.number)", Self.fresh) }
    _ = try await kit.get("/")
    kit.clock.advance(by: 100)
    var texts: [String] = []
    var outcomes: [CacheOutcome?] = []
    for try await case .response(let data, let response) in try kit.session.responses(to: kit.request("/")) {
      texts.append(String(decoding: data, as: UTF8.self))
      outcomes.append(response.cacheOutcome)
    }
    #expect(texts == ["number 1", "number 2"])
    #expect(outcomes.count == 2 && outcomes.allSatisfy { $0 != nil })
  }

  @Test func oneResponseWhereNothingHasChanged() async throws {
    let kit = try Kit { .tagged("\"a\"", $0, .text("same", Self.fresh)) }
    _ = try await kit.get("/")
    kit.clock.advance(by: 100)
    var count = 0
    for try await _ in try kit.session.responses(to: kit.request("/")) { count += 1 }
    #expect(count == 1)
    #expect(kit.origin.requests.count == 2)
  }
}
