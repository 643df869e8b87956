import Foundation
import HTTPCacheArchives
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// `Recordings` has one site of ten resources as two programs recorded it; `Trials/recordings.py --keep`
/// makes both files.
@Suite("Content that another program recorded", .timeLimit(.minutes(10)))
struct RecordedContentTests {
  /// A resource as the file of Chromium tells it, read without the library.
  private struct Resource {
    let url: URL
    let body: Data
    var path: String { url.path + (url.query.map { "?\($0)" } ?? "") }
    let fields: [String: String]
  }

  private struct ChromiumFile: Decodable {
    struct Log: Decodable { let entries: [Entry] }
    struct Entry: Decodable {
      let request: Request
      let response: Response
    }
    struct Request: Decodable { let url: URL }
    struct Response: Decodable {
      let headers: [Field]
      let content: Content
    }
    struct Field: Decodable { let name, value: String }
    struct Content: Decodable {
      let text: String
      let encoding: String?
    }
    let log: Log
  }

  private let recordings = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Recordings")

  private func resources() throws -> [Resource] {
    let file = try JSONDecoder().decode(
      ChromiumFile.self, from: Data(contentsOf: recordings.appendingPathComponent("chromium.har")))
    return try file.log.entries.map { entry in
      let content = entry.response.content
      let body = content.encoding == nil ? Data(content.text.utf8) : Data(base64Encoded: content.text)
      return Resource(
        url: entry.request.url, body: try #require(body),
        fields: Dictionary(uniqueKeysWithValues: entry.response.headers.map { ($0.name, $0.value) }))
    }
  }

  @Test(
    "answers a session without a network, with the entity tags that validate the responses later",
    arguments: ["chromium.har", "wget.warc.gz"])
  func offline(_ name: String) async throws {
    let resources = try resources()
    #expect(resources.count == 10)
    let seed = try Seeds.open(path: recordings.appendingPathComponent(name).path)
    let cache = try HTTPCache.open(HTTPCache.Configuration(seeds: [seed]))
    let session = CachedURLSession(cache: cache, via: ScriptedUpstream())

    for resource in resources {
      let (data, response) = try await session.data(from: resource.url)
      #expect(data == resource.body, "\(resource.path)")
      let head = response as? HTTPURLResponse
      #expect(head?.value(forHTTPHeaderField: "ETag") == resource.fields["ETag"], "\(resource.path)")
      let type = head?.value(forHTTPHeaderField: "Content-Type")
      // A HAR file has text of any charset in UTF-8, and the seed says so where the head named none.
      #expect(type?.hasPrefix(resource.fields["Content-Type"] ?? "-") == true, "\(resource.path)")
    }
    await cache.close()
  }
}
