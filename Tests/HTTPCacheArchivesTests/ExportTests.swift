import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Testing

@Suite("Exporting a cache", .timeLimit(.minutes(10)))
struct ExportTests {
  @Test(
    "selected responses in every form, told by the extension",
    arguments: [
      ("a.hca", nil), ("a.har", nil), ("a.warc", nil), ("a.warc.gz", nil), ("folder", ExportForm.folder),
    ])
  func forms(_ name: String, _ form: ExportForm?) async throws {
    let folder = try ScratchFolder()
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let origin = ScriptedUpstream.counting()
    for (path, fields) in [("/a", [:]), ("/b", [:]), ("/c", [.authorization: "Basic YTpi"])]
      as [(String, HTTPFields)]
    {
      let request = HTTPRequest(
        method: .get, scheme: "https", authority: "example.com", path: path, headerFields: fields)
      _ = try await cache.respond(to: request, via: origin).body.collect()
    }
    let file = folder.path + "/" + name
    let result = try await StoreExport(cache).write(to: file, as: form)
    #expect(result.written == 2 && result.leftOut == 1)
    let seed = try Seeds.open(path: file)
    #expect(seed.count == 2)
    #expect(try await seed.text("https://example.com/b") == "GET /b 2")
    if form == nil {
      #expect(try await StoreExport(cache, .prefix("https://example.com/b")).write(to: file).written == 1)
    }
    await cache.close()
  }

  @Test("a cancelled export leaves no file", arguments: ["a.hca", "a.har", "a.warc", "a.warc.gz"])
  func cancelled(_ name: String) async throws {
    let folder = try ScratchFolder()
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
    _ = try await cache.respond(to: request, via: ScriptedUpstream.counting()).body.collect()
    let export = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await StoreExport(cache).write(to: folder.path + "/" + name)
    }
    await #expect {
      try await export.value
    } throws: {
      ($0 as? CacheError)?.code == .cancelled
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    await cache.close()
  }

  @Test(
    "a pipe, a folder and a link to nothing are not replaced, and a link is followed",
    arguments: ["a.hca", "a.har", "a.warc"])
  func places(_ name: String) async throws {
    let folder = try ScratchFolder()
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let file = folder.path + "/" + name
    let manager = FileManager.default
    #expect(mkfifo(file, 0o600) == 0)
    await #expect(throws: CacheError.self) { try await StoreExport(cache).write(to: file) }
    #expect(try manager.attributesOfItem(atPath: file)[.type] as? FileAttributeType != .typeRegular)
    #expect(throws: CacheError.self) { try Seeds.open(path: file) }
    try manager.removeItem(atPath: file)
    try manager.createDirectory(atPath: file, withIntermediateDirectories: false)
    await #expect(throws: CacheError.self) { try await StoreExport(cache).write(to: file) }
    try manager.removeItem(atPath: file)
    try manager.createSymbolicLink(atPath: file, withDestinationPath: folder.path + "/target")
    await #expect(throws: CacheError.self) { try await StoreExport(cache).write(to: file) }
    try folder.write("target", "old")
    try await StoreExport(cache).write(to: file)
    #expect(try manager.destinationOfSymbolicLink(atPath: file) == folder.path + "/target")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/target")) != Data("old".utf8))
    #expect(try manager.contentsOfDirectory(atPath: folder.path).count == 2)
    await cache.close()
  }

  @Test(
    "lower-cased and shared entries are kept, and answer a cache with the same overrides; others have a reason"
  )
  func overridden() async throws {
    let folder = try ScratchFolder()
    let item = try #require(HTTPField.Name("X-Item"))
    let rules = CacheRules(overrides: [
      RuleOverride(effects: [.lowercasingPath, .droppingQuery(["sig"])]),
      RuleOverride(try .glob("/news/**"), effects: [.alias(item)]),
    ])
    let upstream = ScriptedUpstream { request in
      let path = request.head.path ?? ""
      let headers: KeyValuePairs<String, String> =
        path.hasPrefix("/news")
        ? ["Cache-Control": "max-age=600", "X-Item": "front"] : ["Cache-Control": "max-age=600"]
      return ScriptedResponse(headers: headers, body: path)
    }
    func request(_ path: String, _ fields: HTTPFields = [:]) -> HTTPRequest {
      HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: path, headerFields: fields)
    }
    let cache = try HTTPCache.open(HTTPCache.Configuration(rules: rules))
    let asked = ["/Page", "/file?sig=1", "/news/a", "/news/b"]
    for path in asked { _ = try await cache.respond(to: request(path), via: upstream).body.collect() }
    _ = try await cache.respond(to: request("/secret", [.authorization: "Basic YTpi"]), via: upstream).body
      .collect()
    let file = folder.path + "/a.hca"
    let result = try await StoreExport(cache).write(to: file)
    #expect(result.written == 3 && result.leftOut == 1)
    #expect(result.reasons == ["https://example.com/secret: it answers a request with credentials"])
    await cache.close()
    let shipped = try HTTPCache.open(
      HTTPCache.Configuration(rules: rules, seeds: [try ArchiveSeed(path: file)]))
    for path in ["/page", "/PAGE", "/file?sig=2", "/news/a", "/news/b"] {
      let response = try await shipped.respond(to: request(path), policy: .cacheOnly, via: upstream)
      #expect(response.head.status == .ok, "\(path)")
    }
    await shipped.close()
  }

  @Test("chosen fields and parameters of queries are not written; of URLs that are then equal, the first is")
  func secrets() async throws {
    let folder = try ScratchFolder()
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let origin = ScriptedUpstream.counting()
    for path in ["/a?key=hidden1&b=2", "/a?key=hidden2&b=2", "/c"] {
      let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: path)
      _ = try await cache.respond(to: request, via: origin).body.collect()
    }
    let file = folder.path + "/a.hca"
    let secrets = RecordingSecrets(fields: [.eTag], queryParameters: ["key"])
    let result = try await StoreExport(cache).write(to: file, without: secrets)
    #expect(result.written == 2 && result.leftOut == 1)
    let bytes = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
    #expect(!bytes.contains("hidden") && bytes.contains("key=removed"))
    let seed = try Seeds.open(path: file)
    let found = try #require(try seed.responses(to: "https://example.com/a?key=removed&b=2").first)
    #expect(found.response.head.headerFields[.eTag] == nil)
    #expect(try await found.text() == "GET /a 1")
    await cache.close()
  }
}
