import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

/// A queue obeys what a single request obeys: a response that another site gave is not stored under the URL.
@Suite("A download with another Host than that of its URL", .timeLimit(.minutes(10)))
struct DownloadOtherHostTests {
  private func added(_ test: TestQueue, to name: String?, segments: Int) throws -> DownloadID {
    var download = try test.download(to: name, segments: segments)
    download.request.headerFields[try #require(HTTPField.Name("Host"))] = "evil.example"
    return try test.queue.add(download)
  }

  @Test("arrives at its destination, and is not stored", arguments: [1, 4])
  func file(_ segments: Int) async throws {
    let test = try TestQueue(count: 5_000_000, onDisk: true)
    try await test.expectFetched(added(test, to: "file", segments: segments))
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 1).entries.isEmpty)
  }

  @Test("fails without a destination")
  func entry() async throws {
    let test = try TestQueue(onDisk: true)
    #expect(try await test.end(try added(test, to: nil, segments: 1)).failure == .notStored)
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 1).entries.isEmpty)
  }

  @Test("leaves the entry of the URL as it is", arguments: [1, 4])
  func kept(_ segments: Int) async throws {
    let test = try TestQueue(count: 5_000_000, onDisk: true)
    #expect(try await test.end(try test.add("/file")) == .done(.fetched))
    let before = test.upstream.requests.count
    #expect(try await test.end(try added(test, to: "file", segments: segments)) == .done(.fetched))
    #expect(test.upstream.requests.count > before)
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 9).entries.count == 1)
  }
}
