import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
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
    let folder = try TestFolder()
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let origin = CountingOrigin()
    for (path, fields) in [("/a", [:]), ("/b", [:]), ("/c", [.authorization: "Basic YTpi"])]
      as [(String, HTTPFields)]
    {
      let request = HTTPRequest(
        method: .get, scheme: "https", authority: "example.com", path: path, headerFields: fields)
      _ = try await cache.respond(to: request, via: origin).body.collect()
    }
    let file = folder.path + "/" + name
    let result = try await cache.export(to: file, as: form)
    #expect(result.written == 2 && result.leftOut == 1)
    let seed = try Seeds.open(path: file)
    #expect(seed.count == 2)
    #expect(try await seed.text("https://example.com/b") == "GET /b 2")
    if form == nil {
      #expect(try await cache.export(.prefix("https://example.com/b"), to: file).written == 1)
    }
    await cache.close()
  }
}
