import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

/// Apple's API over a store of ours.
@Suite(.timeLimit(.minutes(10))) struct HTTPURLCacheTests {
  static func request(
    _ text: String = "https://example.com/a", _ fields: [String: String] = [:],
    method: String = "GET"
  ) -> URLRequest {
    var request = URLRequest(url: URL(string: text) ?? URL(fileURLWithPath: "/"))
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    request.httpMethod = method
    return request
  }

  static func response(
    _ text: String = "body", _ fields: [String: String] = [:], status: Int = 200,
    userInfo: [AnyHashable: Any]? = nil, policy: URLCache.StoragePolicy = .allowed
  ) throws -> CachedURLResponse {
    let url = try #require(URL(string: "https://example.com/a"))
    let response = try #require(
      HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
    return CachedURLResponse(
      response: response, data: Data(text.utf8), userInfo: userInfo, storagePolicy: policy)
  }

  private let cache = HTTPURLCache(memoryCapacity: 4 << 20, diskCapacity: 0)

  private func text(_ request: URLRequest) -> String? {
    cache.cachedResponse(for: request).map { String(decoding: $0.data, as: UTF8.self) }
  }

  /// RFC 9110 §9.3.1: the key does not include the content.
  @Test func aRequestWithContentIsNeitherStoredNorAnswered() throws {
    var request = Self.request()
    request.httpBody = Data("a".utf8)
    try cache.storeCachedResponse(Self.response("one"), for: request)
    #expect(text(Self.request()) == nil)
    try cache.storeCachedResponse(Self.response("two"), for: Self.request())
    #expect(text(request) == nil)
    request.httpBody = nil
    request.httpBodyStream = InputStream(data: Data("a".utf8))
    #expect(text(request) == nil)
    request.httpBodyStream = nil
    request.httpBody = Data()
    #expect(text(request) == "two")
  }

  @Test func findsWhatItStoredAtOnce() throws {
    #expect(text(Self.request()) == nil)
    try cache.storeCachedResponse(
      Self.response("one", ["Content-Type": "text/plain", "X-A": "b"]), for: Self.request())
    let found = try #require(cache.cachedResponse(for: Self.request()))
    let http = try #require(found.response as? HTTPURLResponse)
    #expect(found.data == Data("one".utf8))
    #expect(http.statusCode == 200)
    #expect(http.url == Self.request().url)
    #expect(http.mimeType == "text/plain")
    #expect(http.value(forHTTPHeaderField: "X-A") == "b")
    #expect(found.storagePolicy == .allowed)
    #expect(found.userInfo == nil)
  }

  @Test func findsWhatIsStale() throws {
    try cache.storeCachedResponse(
      Self.response("old", ["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control": "max-age=1"]),
      for: Self.request())
    #expect(text(Self.request()) == "old")
  }

  @Test func storesWhatItIsToldTo() throws {
    for (number, directive) in ["no-store", "no-cache", "private", "max-age=0"].enumerated() {
      let request = Self.request("https://example.com/\(number)")
      try cache.storeCachedResponse(
        Self.response(directive, ["Cache-Control": directive]), for: request)
      #expect(text(request) == directive)
    }
  }

  @Test func laterResponseReplacesTheEarlier() throws {
    try cache.storeCachedResponse(Self.response("one"), for: Self.request())
    try cache.storeCachedResponse(Self.response("two"), for: Self.request())
    #expect(text(Self.request()) == "two")
    #expect(cache.cache.store.usage.memoryEntries == 1)
  }

  @Test(arguments: [
    "https://example.com/a?b=1", "http://example.com/a", "https://example.com:8443/a",
    "https://other.example.com/a", "https://example.com/A",
  ])
  func otherURLsAreOtherEntries(text: String) throws {
    try cache.storeCachedResponse(Self.response("one"), for: Self.request())
    #expect(self.text(Self.request(text)) == nil)
    try cache.storeCachedResponse(Self.response("two"), for: Self.request(text))
    #expect(self.text(Self.request(text)) == "two")
    #expect(self.text(Self.request()) == "one")
  }

  @Test(arguments: [
    "HTTPS://EXAMPLE.com/a", "https://example.com:443/a", "https://example.com/a#part",
    "https://example.com/%61",
  ])
  func equivalentURLsAreOneEntry(text: String) throws {
    try cache.storeCachedResponse(Self.response("one"), for: Self.request())
    #expect(self.text(Self.request(text)) == "one")
  }

  @Test func longAndForeignPathsAreKept() throws {
    let paths = [
      String(repeating: "long/", count: 2000), "日本/ü/ÿ?N", "a//b", "%2F..%2F", "ÿÿÿ", "a?b/c",
    ]
    for path in paths {
      try cache.storeCachedResponse(
        Self.response(path), for: Self.request("https://example.com/\(path)"))
    }
    for path in paths { #expect(text(Self.request("https://example.com/\(path)")) == path) }
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
  func onlyGetIsStored(method: String) throws {
    try cache.storeCachedResponse(Self.response(), for: Self.request(method: method))
    #expect(cache.cachedResponse(for: Self.request(method: method)) == nil)
    #expect(cache.cachedResponse(for: Self.request()) == nil)
  }

  @Test func headIsAnsweredWithoutABodyAndPostNotAtAll() throws {
    try cache.storeCachedResponse(Self.response("four"), for: Self.request())
    let head = try #require(cache.cachedResponse(for: Self.request(method: "HEAD")))
    #expect(head.data.isEmpty)
    #expect(cache.cachedResponse(for: Self.request(method: "POST")) == nil)
  }

  @Test func varyTellsVariantsApart() throws {
    for language in ["de", "en"] {
      try cache.storeCachedResponse(
        Self.response(language, ["Vary": "Accept-Language"]),
        for: Self.request("https://example.com/a", ["Accept-Language": language]))
    }
    for language in ["de", "en"] {
      #expect(text(Self.request("https://example.com/a", ["Accept-Language": language])) == language)
    }
    #expect(text(Self.request()) == nil)
    try cache.storeCachedResponse(
      Self.response("any", ["Vary": "*"]), for: Self.request("https://example.com/any"))
    #expect(text(Self.request("https://example.com/any")) == nil)
  }

  @Test func rangesAreCutOutAndPartsAreNoWholes() throws {
    try cache.storeCachedResponse(Self.response("0123456789"), for: Self.request())
    let part = try #require(
      cache.cachedResponse(for: Self.request("https://example.com/a", ["Range": "bytes=2-4"])))
    #expect(part.data == Data("234".utf8))
    #expect((part.response as? HTTPURLResponse)?.statusCode == 206)

    let other = "https://example.com/part"
    let range = ["Range": "bytes=0-2"]
    try cache.storeCachedResponse(
      Self.response("012", ["Content-Range": "bytes 0-2/10", "ETag": "\"a\""], status: 206),
      for: Self.request(other, range))
    #expect(text(Self.request(other)) == nil)
    #expect(text(Self.request(other, range)) == "012")
    #expect(text(Self.request(other, ["Range": "bytes=0-5"])) == nil)
    // A part whose bytes differ from its Content-Range.
    try cache.storeCachedResponse(
      Self.response("01", ["Content-Range": "bytes 0-2/10"], status: 206),
      for: Self.request("https://example.com/lie", range))
    #expect(text(Self.request("https://example.com/lie", range)) == nil)
  }

  @Test func conditionsDoNotCount() throws {
    try cache.storeCachedResponse(Self.response("one", ["ETag": "\"a\""]), for: Self.request())
    #expect(text(Self.request("https://example.com/a", ["If-None-Match": "\"a\""])) == "one")
  }

  @Test func whatIsNotAllowedIsNotStored() throws {
    try cache.storeCachedResponse(Self.response(policy: .notAllowed), for: Self.request())
    #expect(cache.cachedResponse(for: Self.request()) == nil)
  }

  @Test func whatIsNoHTTPIsNotStored() throws {
    let url = try #require(URL(string: "https://example.com/a"))
    let plain = URLResponse(
      url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
    cache.storeCachedResponse(CachedURLResponse(response: plain, data: Data()), for: Self.request())
    try cache.storeCachedResponse(Self.response(), for: Self.request("file:///etc/hosts"))
    #expect(cache.cachedResponse(for: Self.request()) == nil)
    #expect(cache.cachedResponse(for: Self.request("file:///etc/hosts")) == nil)
    for status in [0, 100, 304, 1000] {
      try cache.storeCachedResponse(Self.response(status: status), for: Self.request())
      #expect(cache.cachedResponse(for: Self.request()) == nil)
    }
  }

  @Test func removes() throws {
    let other = Self.request("https://example.com/b")
    try cache.storeCachedResponse(Self.response("one"), for: Self.request())
    try cache.storeCachedResponse(Self.response("two"), for: other)
    cache.removeCachedResponse(for: Self.request())
    #expect(text(Self.request()) == nil)
    #expect(text(other) == "two")
    cache.removeCachedResponse(for: Self.request())
    cache.removeAllCachedResponses()
    #expect(text(other) == nil)
    #expect(cache.currentMemoryUsage == 0)
  }

  @Test func removesWhatWasStoredSince() throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let cache = HTTPURLCache(
      cache: HTTPCache(
        configuration: HTTPCache.Configuration(clock: clock),
        store: MemoryStore(capacity: 4 << 20, clock: clock)))
    let later = Self.request("https://example.com/later")
    try cache.storeCachedResponse(Self.response(), for: Self.request())
    clock.advance(by: 10)
    try cache.storeCachedResponse(Self.response(), for: later)
    cache.removeCachedResponses(since: Date(timeIntervalSince1970: 1_700_000_005.5))
    #expect(cache.cachedResponse(for: Self.request()) != nil)
    #expect(cache.cachedResponse(for: later) == nil)
    cache.removeCachedResponses(since: .distantFuture)
    #expect(cache.cachedResponse(for: Self.request()) != nil)
    cache.removeCachedResponses(since: .distantPast)
    #expect(cache.cachedResponse(for: Self.request()) == nil)
  }

  @Test func capacitiesCanBeChanged() throws {
    #expect(cache.memoryCapacity == 4 << 20)
    #expect(cache.diskCapacity == 0)
    #expect(cache.currentMemoryUsage == 0)
    try cache.storeCachedResponse(
      Self.response(String(repeating: "a", count: 10_000)), for: Self.request())
    #expect(cache.currentMemoryUsage > 10_000)
    cache.memoryCapacity = 0
    #expect(cache.memoryCapacity == 0)
    #expect(cache.currentMemoryUsage == 0)
    #expect(cache.cachedResponse(for: Self.request()) == nil)
    try cache.storeCachedResponse(Self.response(), for: Self.request())
    #expect(cache.cachedResponse(for: Self.request()) == nil)
    cache.memoryCapacity = 1 << 20
    try cache.storeCachedResponse(Self.response(), for: Self.request())
    #expect(cache.cachedResponse(for: Self.request()) != nil)
  }

  @Test func canBeShared() throws {
    let cache: URLCache = self.cache
    #expect(cache.cachedResponse(for: Self.request()) == nil)
    try cache.storeCachedResponse(Self.response(), for: Self.request())
    #expect(cache.cachedResponse(for: Self.request()) != nil)
  }

  @Test func isSafeToUseFromManyTasks() async throws {
    let stored = try Self.response("body")
    let cache = cache
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let request = Self.request("https://example.com/\(number % 7)")
          switch number % 5 {
          case 0: cache.removeCachedResponse(for: request)
          case 1: cache.memoryCapacity = 4 << 20
          default: cache.storeCachedResponse(stored, for: request)
          }
          if let found = cache.cachedResponse(for: request) {
            #expect(found.data == Data("body".utf8))
          }
        }
      }
    }
  }
}
