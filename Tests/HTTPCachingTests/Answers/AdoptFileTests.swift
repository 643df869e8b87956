import Foundation
import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A local file that becomes an entry", .timeLimit(.minutes(10)))
struct AdoptFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("adopt-\(UUID())")
  private let cache: HTTPCache
  private let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/film")
  private let content = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    cache = try HTTPCache.open(
      HTTPCache.Configuration(
        directory: folder.appendingPathComponent("cache").path, diskCapacity: 64 << 20,
        minimumFreeDiskSpace: 0))
  }

  private func removeFolder() async {
    // Until it is closed, threads of the store may make files.
    await cache.close()
    try? FileManager.default.removeItem(at: folder)
  }

  private func file() throws -> String {
    let url = folder.appendingPathComponent("film")
    try Data(content).write(to: url)
    return url.path
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
    await removeFolder()
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
    await removeFolder()
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
    await removeFolder()
  }
}
