import Foundation
import HTTPCacheURLSession
import HTTPCaching

/// Equal calls to two classes with the API of `URLCache`.
struct ComparedURLCache {
  private let make: () -> URLCache
  private(set) var results: [(step: String, result: String)] = []

  init(_ make: @escaping () -> URLCache) { self.make = make }

  mutating func run() {
    asking("`/a?user=1`, ask for `/a?user=2`", "http://a.test/a?user=1", "http://a.test/a?user=2")
    asking("`http:`, ask for `https:`", "http://a.test/a", "https://a.test/a")
    asking("GET, ask for POST", "http://a.test/a", "http://a.test/a", method: "POST")
    asking(
      "`Vary: Accept-Language` for de, ask for en", "http://a.test/a", "http://a.test/a",
      stored: "de", asked: "en", fields: ["Vary": "Accept-Language"])
    asking(
      "a 206 of 3 bytes, ask for all", "http://a.test/a", "http://a.test/a", status: 206,
      fields: ["Content-Range": "bytes 0-2/10"])
    asking("a path, ask for the same", "http://a.test/a", "http://a.test/a")
    asking("default port, ask without", "http://a.test:80/a", "http://a.test/a")
    let long = "http://a.test/" + String(repeating: "a", count: 1000)
    asking("a path of 1,000 characters, in memory", long, long)
    asking("the same, opened again from disk", long, long, onDisk: true)
    asking("`/日本/ÿ?N`, opened again from disk", "http://a.test/日本/ÿ?N", "http://a.test/日本/ÿ?N", onDisk: true)
  }

  private mutating func asking(
    _ name: String, _ stored: String, _ asked: String, method: String = "GET",
    stored language: String? = nil, asked other: String? = nil, status: Int = 200,
    fields: [String: String] = [:], onDisk: Bool = false
  ) {
    guard let storedURL = URL(string: stored), let askedURL = URL(string: asked),
      let response = HTTPURLResponse(
        url: storedURL, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { return }
    var storing = URLRequest(url: storedURL)
    storing.setValue(language, forHTTPHeaderField: "Accept-Language")
    var asking = URLRequest(url: askedURL)
    asking.setValue(other, forHTTPHeaderField: "Accept-Language")
    asking.httpMethod = method
    var cache = make()
    cache.storeCachedResponse(
      CachedURLResponse(response: response, data: Data("abc".utf8)), for: storing)
    if onDisk { cache = make() }
    let found = cache.cachedResponse(for: asking)
    results.append((name, found == nil ? "nothing" : "found"))
    cache.removeAllCachedResponses()
  }
}
