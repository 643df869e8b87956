import Foundation
import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A local file that becomes an entry", .timeLimit(.minutes(10)))
struct AdoptFileTests {
  private let folder: ScratchFolder
  private let cache: HTTPCache
  private let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/film")
  private let content = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

  init() throws {
    folder = try ScratchFolder()
    cache = try HTTPCache.open(
      HTTPCache.Configuration(
        directory: folder.path("cache"), diskCapacity: 64 << 20, minimumFreeDiskSpace: 0))
  }

  private func file() throws -> String {
    try Data(content).write(to: folder.url("film"))
    return folder.path("film")
  }

  private func head(_ fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]) -> HTTPResponse {
    HTTPResponse(status: .ok, headerFields: fields)
  }

  private func isStored() async throws -> Bool {
    let upstream = ScriptedUpstream { _ in ScriptedResponse(head: HTTPResponse(status: .notFound), steps: [])
    }
    let response = try await cache.respond(to: request, via: upstream)
    guard response.head.status == .ok else { return false }
    var bytes: [UInt8] = []
    while let piece = try await response.body.source.next() { piece.withUnsafeBytes { bytes += $0 } }
    #expect(bytes == content)
    #expect(upstream.requestCount == 0)
    return true
  }

  @Test("its bytes answer the request, and the file stays")
  func stored() async throws {
    let path = try file()
    #expect(try await cache.adopt(file: path, response: head(), for: request) == nil)
    #expect(FileManager.default.contents(atPath: path)?.count == content.count)
    try FileManager.default.removeItem(atPath: path)
    #expect(try await isStored())
    await cache.close()
  }

  @Test(
    "what the response does not allow, or what is not the body, is not stored",
    arguments: [
      [.cacheControl: "no-store"], [.cacheControl: "max-age=60", .contentLength: "5"],
      [.cacheControl: "max-age=60", .init("Repr-Digest") ?? .age: "sha-256=:AAAA:"],
    ] as [HTTPFields])
  func refused(fields: HTTPFields) async throws {
    #expect(try await cache.adopt(file: try file(), response: head(fields), for: request) != nil)
    #expect(try await !isStored())
    await cache.close()
  }

  @Test("neither a part nor a folder nor a missing file is a body")
  func noBody() async throws {
    let part = HTTPResponse(status: .partialContent, headerFields: [.contentRange: "bytes 0-9/10"])
    #expect(try await cache.adopt(file: try file(), response: part, for: request) == .partialContent)
    for path in [folder.path, folder.path + "/none"] {
      await #expect(throws: CacheError.self) {
        _ = try await cache.adopt(file: path, response: head(), for: request)
      }
    }
    await cache.close()
  }
}
