import Foundation
import HTTPCacheArchives
import HTTPCacheURLSession
import HTTPCaching
import HTTPTypes
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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

  /// The site: unreachable at first, then with new versions of some resources.
  private final class Site: Upstream {
    struct State {
      var isOnline = false
      var whole: [String] = []
      var validated: [String] = []
    }
    let resources: [String: Resource]
    let changed: Set<String>
    let state = Mutex(State())

    init(_ resources: [Resource], changed: Set<String>) {
      self.resources = Dictionary(uniqueKeysWithValues: resources.map { ($0.path, $0) })
      self.changed = changed
    }

    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      guard state.withLock({ $0.isOnline }) else { throw UpstreamError(.unreachable, "no network") }
      let path = request.head.path ?? ""
      guard let resource = resources[path] else {
        return UpstreamResponse(head: HTTPResponse(status: .notFound), body: .empty)
      }
      let tag = changed.contains(path) ? "\"new\"" : resource.fields["ETag"] ?? ""
      if request.head.headerFields[.ifNoneMatch] == tag {
        state.withLock { $0.validated.append(path) }
        return UpstreamResponse(
          head: HTTPResponse(status: .notModified, headerFields: [.eTag: tag]), body: .empty)
      }
      state.withLock { $0.whole.append(path) }
      return UpstreamResponse(
        head: HTTPResponse(status: .ok, headerFields: [.eTag: tag, .cacheControl: "max-age=0"]),
        body: MessageBody(BodyBytes(Array("new \(path)".utf8))))
    }
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
    "answers a session without a network; then two of ten that changed are fetched whole",
    arguments: ["chromium.har", "wget.warc.gz"])
  func offlineThenOnline(_ name: String) async throws {
    let resources = try resources()
    #expect(resources.count == 10)
    let changed: Set<String> = ["/a.js", "/data.json"]
    let site = Site(resources, changed: changed)
    let seed = try Seeds.open(path: recordings.appendingPathComponent(name).path)
    let cache = try HTTPCache.open(HTTPCache.Configuration(seeds: [seed]))
    let session = CachedURLSession(cache: cache, via: site)

    for resource in resources {
      let (data, response) = try await session.data(from: resource.url)
      #expect(data == resource.body, "\(resource.path)")
      let type = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type")
      // A HAR file has text of any charset in UTF-8, and the seed says so where the head named none.
      #expect(type?.hasPrefix(resource.fields["Content-Type"] ?? "-") == true, "\(resource.path)")
    }
    site.state.withLock { $0.isOnline = true }
    for resource in resources {
      let data = try await session.data(from: resource.url).0
      #expect(data == (changed.contains(resource.path) ? Data("new \(resource.path)".utf8) : resource.body))
    }
    site.state.withLock { state in
      #expect(Set(state.whole) == changed && state.whole.count == 2)
      #expect(state.validated.count == 8)
    }
    await cache.close()
  }
}
