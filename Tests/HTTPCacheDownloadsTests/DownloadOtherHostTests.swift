import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

/// A queue obeys what a single request obeys: a response that another site gave is not stored under the URL.
@Suite("A download with another Host than that of its URL", .timeLimit(.minutes(10)))
struct DownloadOtherHostTests {
  private func added(_ kitchen: DownloadKitchen, to name: String?, segments: Int) throws -> DownloadID {
    var download = try kitchen.download("/file", to: name)
    download.segments = segments
    download.request.headerFields[try #require(HTTPField.Name("Host"))] = "evil.example"
    return try kitchen.queue.add(download)
  }

  @Test("arrives at its destination, and is not stored", arguments: [1, 4])
  func file(_ segments: Int) async throws {
    let kitchen = try DownloadKitchen(count: 5_000_000, onDisk: true)
    #expect(try await kitchen.end(try added(kitchen, to: "file", segments: segments)) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(try await kitchen.cache.store.entries(.all, after: nil, limit: 1).entries.isEmpty)
  }

  @Test("fails without a destination")
  func entry() async throws {
    let kitchen = try DownloadKitchen(onDisk: true)
    #expect(try await kitchen.end(try added(kitchen, to: nil, segments: 1)).failure == .notStored)
    #expect(try await kitchen.cache.store.entries(.all, after: nil, limit: 1).entries.isEmpty)
  }

  @Test("leaves the entry of the URL as it is", arguments: [1, 4])
  func kept(_ segments: Int) async throws {
    let kitchen = try DownloadKitchen(count: 5_000_000, onDisk: true)
    #expect(try await kitchen.end(try kitchen.add("/file")) == .done(.fetched))
    let before = kitchen.upstream.requests.count
    #expect(try await kitchen.end(try added(kitchen, to: "file", segments: segments)) == .done(.fetched))
    #expect(kitchen.upstream.requests.count > before)
    #expect(try await kitchen.cache.store.entries(.all, after: nil, limit: 9).entries.count == 1)
  }
}
