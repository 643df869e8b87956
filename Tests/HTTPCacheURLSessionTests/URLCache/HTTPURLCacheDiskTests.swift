import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

/// An `HTTPURLCache` with a directory, shared with the engine.
@Suite(.timeLimit(.minutes(10))) struct HTTPURLCacheDiskTests {
  private typealias Make = HTTPURLCacheTests

  private let folder: ScratchFolder
  private var directory: URL { folder.url("cache") }

  init() throws { folder = try ScratchFolder() }

  /// Whether a text is anywhere in the files of a directory.
  private func contains(_ text: String, in directory: URL) throws -> Bool {
    let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
    for case let file as URL in files ?? .init() {
      if let data = try? Data(contentsOf: file), data.range(of: Data(text.utf8)) != nil { return true }
    }
    return false
  }

  @Test func isThereAfterOpeningAgain() async throws {
    let large = String(repeating: "large ", count: 50_000)
    do {
      let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 50 << 20, directory: directory)
      try cache.storeCachedResponse(
        Make.response("small", userInfo: ["a": 1]), for: Make.request())
      try cache.storeCachedResponse(
        Make.response(large), for: Make.request("https://example.com/large"))
      #expect(cache.currentDiskUsage > large.utf8.count)
      #expect(cache.diskCapacity == 50 << 20)
      await cache.cache.flush()
    }
    let cache = HTTPURLCache(memoryCapacity: 0, diskCapacity: 50 << 20, diskPath: directory.path)
    let small = try #require(cache.cachedResponse(for: Make.request()))
    #expect(small.data == Data("small".utf8))
    #expect(small.userInfo?["a"] as? Int == 1)
    let found = cache.cachedResponse(for: Make.request("https://example.com/large"))
    #expect(found?.data == Data(large.utf8))
    cache.removeAllCachedResponses()
    #expect(cache.cachedResponse(for: Make.request()) == nil)
  }

  @Test func whatIsForMemoryNeverReachesTheDisk() async throws {
    let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 50 << 20, directory: directory)
    try cache.storeCachedResponse(
      Make.response(
        "very secret", ["X-Secret": "header secret"], userInfo: ["a": "info secret"],
        policy: .allowedInMemoryOnly), for: Make.request("https://example.com/path-secret"))
    let found = cache.cachedResponse(for: Make.request("https://example.com/path-secret"))
    #expect(found?.storagePolicy == .allowedInMemoryOnly)
    #expect(found?.data == Data("very secret".utf8))
    try cache.storeCachedResponse(
      Make.response("refused secret", policy: .notAllowed), for: Make.request("https://example.com/refused"))
    await cache.cache.flush()
    for text in ["very secret", "header secret", "info secret", "path-secret", "refused secret"] {
      #expect(try !contains(text, in: directory))
    }
    try cache.storeCachedResponse(Make.response("no secret"), for: Make.request())
    await cache.cache.flush()
    #expect(try contains("no secret", in: directory))
  }

  @Test func withoutMemoryNothingIsKeptInIt() async throws {
    let cache = HTTPURLCache(memoryCapacity: 0, diskCapacity: 50 << 20, directory: directory)
    #expect(cache.memoryCapacity == 0)
    try cache.storeCachedResponse(
      Make.response(policy: .allowedInMemoryOnly), for: Make.request())
    #expect(cache.cachedResponse(for: Make.request()) == nil)
    try cache.storeCachedResponse(Make.response("disk"), for: Make.request())
    #expect(cache.cachedResponse(for: Make.request())?.data == Data("disk".utf8))
    #expect(cache.currentMemoryUsage == 0)
    cache.memoryCapacity = 1 << 20
    try cache.storeCachedResponse(
      Make.response(policy: .allowedInMemoryOnly), for: Make.request("https://example.com/m"))
    #expect(cache.cachedResponse(for: Make.request("https://example.com/m")) != nil)
  }

  @Test func withoutDiskItGoesOnInMemory() async throws {
    let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 50 << 20, directory: directory)
    let copied = Make.request("https://example.com/copied")
    try cache.storeCachedResponse(Make.response("copied"), for: copied)
    cache.diskCapacity = 0
    #expect(cache.diskCapacity == 0)
    #expect(cache.cachedResponse(for: copied)?.data == Data("copied".utf8))
    #expect(try await cache.cache.entries().entries.allSatisfy(\.record.isMemoryOnly))
    await cache.cache.flush()
    #expect(try !contains("copied", in: directory))
    #expect(cache.memoryCapacity == 1 << 20)
    try cache.storeCachedResponse(Make.response("in memory"), for: Make.request())
    #expect(cache.cachedResponse(for: Make.request())?.data == Data("in memory".utf8))
    #expect(cache.currentMemoryUsage > 0)
    await cache.cache.flush()
    #expect(try !contains("in memory", in: directory))
    cache.diskCapacity = 50 << 20
    try cache.storeCachedResponse(
      Make.response("on disk"), for: Make.request("https://example.com/2"))
    await cache.cache.flush()
    #expect(try contains("on disk", in: directory))
    #expect(cache.cachedResponse(for: Make.request())?.data == Data("in memory".utf8))
    #expect(cache.cachedResponse(for: copied)?.data == Data("copied".utf8))
    cache.removeCachedResponse(for: copied)
    #expect(cache.cachedResponse(for: copied) == nil)
  }

  @Test func withoutDiskAndMemoryNothingIsFound() async throws {
    let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 50 << 20, directory: directory)
    try cache.storeCachedResponse(Make.response(), for: Make.request())
    cache.diskCapacity = 0
    #expect(cache.cachedResponse(for: Make.request()) != nil)
    cache.memoryCapacity = 0
    #expect(cache.cachedResponse(for: Make.request()) == nil)
  }

  @Test func aDiskCapacityOfZeroMakesNoFolder() async throws {
    let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: directory)
    try cache.storeCachedResponse(Make.response(), for: Make.request())
    #expect(!FileManager.default.fileExists(atPath: directory.path))
    #expect(cache.cachedResponse(for: Make.request()) != nil && cache.currentDiskUsage == 0)
  }

  @Test func aDirectoryThatCannotBeUsedLeavesItInMemory() throws {
    let cache = HTTPURLCache(
      memoryCapacity: 1 << 20, diskCapacity: 1 << 20,
      directory: URL(fileURLWithPath: "/dev/null/nowhere"))
    try cache.storeCachedResponse(Make.response("one"), for: Make.request())
    #expect(cache.cachedResponse(for: Make.request())?.data == Data("one".utf8))
  }

  // MARK: With the engine

  private func answer(
    _ cache: HTTPCache, _ origin: ScriptedUpstream, bodyForms: BodyForms = .any
  ) async throws -> (text: String, response: CacheResponse) {
    let response = try await cache.respond(
      to: HTTPRequest(Make.request()), options: RequestOptions(bodyForms: bodyForms),
      via: origin)
    return (String(decoding: try await response.body.collect().array, as: UTF8.self), response)
  }

  @Test func engineReusesWhatWasStored() async throws {
    let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
    let origin = ScriptedUpstream([.notModified(headers: ["ETag": "\"a\""])])
    try cache.storeCachedResponse(
      Make.response("one", ["Cache-Control": "max-age=60", "ETag": "\"a\""]), for: Make.request())
    #expect(try await answer(cache.cache, origin).text == "one")
    #expect(origin.requestCount == 0)
    // A response with no-cache is confirmed by the origin first.
    try cache.storeCachedResponse(
      Make.response("two", ["Cache-Control": "no-cache", "ETag": "\"a\""]), for: Make.request())
    #expect(try await answer(cache.cache, origin).text == "two")
    #expect(origin.requests.first?["If-None-Match"] == "\"a\"")
  }

  @Test func engineDoesNotUseWhatMustNotBeStored() async throws {
    let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
    let origin = ScriptedUpstream([ScriptedResponse(body: "new")])
    try cache.storeCachedResponse(
      Make.response("old", ["Cache-Control": "no-store, max-age=60"]), for: Make.request())
    #expect(cache.cachedResponse(for: Make.request())?.data == Data("old".utf8))
    #expect(try await answer(cache.cache, origin).text == "new")
  }

  @Test func findsWhatTheEngineStored() async throws {
    let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
    let origin = ScriptedUpstream([
      ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "one")
    ])
    _ = try await answer(cache.cache, origin)
    let found = try #require(cache.cachedResponse(for: Make.request()))
    #expect(found.data == Data("one".utf8))
    #expect(found.response.cacheOutcome.isHit)
    cache.removeCachedResponse(for: Make.request())
    await #expect(throws: UpstreamError.self) { try await answer(cache.cache, origin) }
  }

  @Test func whatWasDecodedIsMarked() async throws {
    for fields in [["Content-Encoding": "gzip", "Content-Length": "3"], ["Content-Length": "3"]] {
      let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
      let origin = ScriptedUpstream([ScriptedResponse(body: "wire")])
      try cache.storeCachedResponse(
        Make.response("decoded", fields.merging(["Cache-Control": "max-age=60"]) { $1 }),
        for: Make.request())
      #expect(try await answer(cache.cache, origin).text == "decoded")
      let http = cache.cachedResponse(for: Make.request())?.response as? HTTPURLResponse
      #expect(http?.value(forHTTPHeaderField: "Content-Encoding") == nil)
      #expect(http?.value(forHTTPHeaderField: "Content-Length") == nil)
      #expect(try await answer(cache.cache, origin, bodyForms: .asSent).text == "wire")
    }
  }

  // MARK: With Foundation's own loading

  #if canImport(FoundationNetworking)
    @Test func foundationOnLinuxIsGivenFreshResponsesOnly() async throws {
      let origin = try SocketOrigin { .text("origin \($0.number)") }
      let cache = HTTPURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = cache
      let session = URLSession(configuration: configuration)
      defer { session.finishTasksAndInvalidate() }
      let fresh = URLRequest(url: origin.url("/fresh"))
      let varying = URLRequest(url: origin.url("/varying"))
      let stale = URLRequest(url: origin.url("/stale"))
      try cache.storeCachedResponse(
        Make.response("stored", ["Cache-Control": "max-age=60"]), for: fresh)
      try cache.storeCachedResponse(
        Make.response("stored", ["Cache-Control": "max-age=60", "Vary": "X-A"]), for: varying)
      try cache.storeCachedResponse(
        Make.response("stored", ["Cache-Control": "max-age=0"]), for: stale)
      #expect(try await session.get(fresh).text == "stored")
      #expect(try await session.get(varying).text == "origin 1")
      #expect(try await session.get(stale).text == "origin 2")
      var reload = fresh
      reload.cachePolicy = .reloadIgnoringLocalCacheData
      #expect(try await session.get(reload).text == "origin 3")
      // Foundation removed no entry and stored none.
      for request in [fresh, varying, stale] {
        #expect(cache.cachedResponse(for: request)?.data == Data("stored".utf8))
      }
    }
  #endif
}
