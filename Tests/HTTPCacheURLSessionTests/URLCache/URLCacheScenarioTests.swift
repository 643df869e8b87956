import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The behaviours that Foundation's own tests of `URLCache` on Linux ask for, except the two that delete the
/// directory of an open cache and expect loss.
@Suite(.timeLimit(.minutes(10))) struct URLCacheScenarioTests {
  private static let hosts = ["one", "two", "three"]
  private let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func cache(memory: Int64 = 200 << 20, disk: Int64 = 200 << 20) throws -> HTTPURLCache {
    HTTPURLCache(
      cache: try HTTPCache.open(
        HTTPCache.Configuration(
          directory: disk > 0 ? folder.file("cache").path : nil, memoryCapacity: memory, diskCapacity: disk,
          clock: clock)))
  }

  private func request(_ host: String) throws -> URLRequest {
    URLRequest(url: try #require(URL(string: "https://\(host).example/")))
  }

  @discardableResult
  private func store(
    _ host: String = "one", _ policy: URLCache.StoragePolicy = .allowed, first: UInt8 = 0,
    in cache: HTTPURLCache
  ) throws -> CachedURLResponse {
    let request = try request(host)
    let url = try #require(request.url)
    let response = try #require(
      HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:]))
    let cached = CachedURLResponse(
      response: response, data: Data([first] + [UInt8](repeating: 0, count: 2_047)), userInfo: nil,
      storagePolicy: policy)
    cache.storeCachedResponse(cached, for: request)
    return cached
  }

  /// The hosts whose response is found.
  private func found(in cache: HTTPURLCache) throws -> [String] {
    try Self.hosts.filter { cache.cachedResponse(for: try request($0)) != nil }
  }

  private func entries(in cache: HTTPURLCache) async throws -> Int {
    try await cache.cache.entries().entries.count
  }

  @Test("what is stored is found, equal")
  func roundTrip() throws {
    let cache = try cache()
    let stored = try store(in: cache)
    let found = try #require(cache.cachedResponse(for: try request("one")))
    #expect(found.data == stored.data && found.storagePolicy == stored.storagePolicy)
    #expect(found.response.url == stored.response.url)
    #expect((found.response as? HTTPURLResponse)?.statusCode == 200)
  }

  @Test("the storage policy says where a response is kept")
  func storagePolicy() async throws {
    for (policy, isFound, isOnDisk) in [
      (URLCache.StoragePolicy.allowed, true, true), (.allowedInMemoryOnly, true, false),
      (.notAllowed, false, false),
    ] {
      do {
        let cache = try cache()
        cache.removeAllCachedResponses()
        try store("one", policy, in: cache)
        #expect(try found(in: cache) == (isFound ? ["one"] : []), "\(policy)")
      }
      // Another cache of the directory has another memory.
      #expect(try found(in: cache()) == (isOnDisk ? ["one"] : []), "\(policy)")
    }
  }

  @Test("without a disk, nothing is on disk, and responses are found")
  func noDisk() throws {
    let cache = HTTPURLCache(memoryCapacity: 200 << 20, diskCapacity: 0, directory: folder.file("cache"))
    try store(in: cache)
    #expect(!FileManager.default.fileExists(atPath: folder.file("cache").path))
    #expect(try found(in: cache) == ["one"] && cache.currentDiskUsage == 0)
  }

  @Test("a disk capacity of 0 empties the disk, and memory answers")
  func shrinkingDisk() async throws {
    let cache = try cache()
    for host in Self.hosts { try store(host, in: cache) }
    cache.diskCapacity = 0
    #expect(try found(in: cache) == Self.hosts)
    #expect(try await cache.cache.entries().entries.allSatisfy(\.record.isMemoryOnly))
    for host in Self.hosts { try store(host, in: cache) }
    #expect(try found(in: cache) == Self.hosts)
    cache.memoryCapacity = 0
    #expect(try found(in: cache) == [], "nothing was left on disk")
  }

  @Test("removing one response leaves the others")
  func removingOne() async throws {
    let cache = try cache()
    for host in Self.hosts { try store(host, in: cache) }
    cache.removeCachedResponse(for: try request("one"))
    #expect(try found(in: cache) == ["two", "three"])
    #expect(try await entries(in: cache) == 2)
  }

  @Test("removing all leaves none")
  func removingAll() async throws {
    let cache = try cache()
    for host in Self.hosts { try store(host, in: cache) }
    #expect(try await entries(in: cache) == 3)
    cache.removeAllCachedResponses()
    #expect(try found(in: cache) == [])
    #expect(try await entries(in: cache) == 0)
  }

  @Test("removing since a date leaves what was stored before")
  func removingSince() async throws {
    let cache = try cache()
    try store("one", in: cache)
    clock.advance(by: .seconds(5))
    for host in ["two", "three"] { try store(host, in: cache) }
    cache.removeCachedResponses(since: Date(timeIntervalSince1970: 1_800_000_000 + 1.5))
    #expect(try found(in: cache) == ["one"])
    #expect(try await entries(in: cache) == 1)
  }

  @Test("storing a response again replaces it")
  func storingTwice() async throws {
    let cache = try cache()
    try store(first: 1, in: cache)
    clock.advance(by: .seconds(3))
    let second = try store(first: 2, in: cache)
    #expect(cache.cachedResponse(for: try request("one"))?.data == second.data)
    #expect(try await entries(in: cache) == 1)
  }
}
