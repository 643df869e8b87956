import Foundation
import HTTPCacheURLSession
import HTTPCaching
import HTTPTypes

/// The rows, whose responses are stored before they are asked for.
enum DoorRows {
  static let size = 1_024

  static func make() async throws -> [DoorRow] {
    guard let url = URL(string: "https://www.example.com/news/article?id=1") else { throw NoTarget() }
    let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 64 << 20))
    let request = HTTPRequest(
      method: .get, scheme: "https", authority: "www.example.com", path: "/news/article?id=1")
    let origin = FixedOrigin()
    let session = CachedURLSession(cache: cache, via: origin)
    _ = try await session.data(from: url)
    var rows = [
      DoorRow(name: "HTTPCache.peek") {
        guard cache.peek(request) != nil else { throw Missed() }
      },
      DoorRow(name: "HTTPCache.respond") {
        let response = try await cache.respond(to: request, via: Nowhere())
        try check(try await response.body.collect().count)
      },
      DoorRow(name: "CachedURLSession.data") { try check(try await session.data(from: url).0.count) },
    ]
    rows += try urlCaches(url, cache)
    rows += sessions(url, cache)
    #if AsyncHTTPClient
      rows += clients(url, cache)
    #endif
    #if Hummingbird
      rows += try await servers(url)
    #endif
    return rows
  }

  private static func urlCaches(_ url: URL, _ cache: HTTPCache) throws -> [DoorRow] {
    // On Linux, Foundation's cache finds by path alone.
    guard let plain = URL(string: "https://www.example.com/news/article"),
      let response = HTTPURLResponse(
        url: plain, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: FixedOrigin.dictionary)
    else { throw NoTarget() }
    let foundations = URLCache(memoryCapacity: 64 << 20, diskCapacity: 0, diskPath: nil)
    foundations.storeCachedResponse(
      CachedURLResponse(response: response, data: Data(count: size)), for: URLRequest(url: plain))
    let ours = HTTPURLCache(cache: cache)
    return [
      DoorRow(name: "Foundation: URLCache.cachedResponse") {
        try check(foundations.cachedResponse(for: URLRequest(url: plain))?.data.count ?? 0)
      },
      DoorRow(name: "HTTPURLCache.cachedResponse") {
        try check(ours.cachedResponse(for: URLRequest(url: url))?.data.count ?? 0)
      },
    ]
  }

  private static func sessions(_ url: URL, _ cache: HTTPCache) -> [DoorRow] {
    let floor = URLSessionConfiguration.ephemeral
    floor.protocolClasses = [ImmediateProtocol.self]
    let plain = URLSession(configuration: floor)
    let caching = URLSession(configuration: .caching(with: cache))
    return [
      DoorRow(name: "Foundation: URLSession.data, a protocol that answers at once") {
        try check(try await plain.data(from: url).0.count)
      },
      DoorRow(name: "URLSession(.caching(with:)).data") {
        try check(try await caching.data(from: url).0.count)
      },
    ]
  }

  static func check(_ count: Int) throws { if count != size { throw Missed() } }
}

/// Answers each request with the same cacheable response.
struct FixedOrigin: Upstream {
  static let fields = HTTPFields(
    dictionary.compactMap { name, value in
      HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
    })
  static let dictionary = [
    "Content-Type": "text/html; charset=utf-8", "Cache-Control": "max-age=86400", "ETag": "\"v1\"",
    "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Server": "example", "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "max-age=31536000",
  ]

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let body = BodyBytes([UInt8](repeating: 0x61, count: DoorRows.size))
    let head = HTTPResponse(status: .ok, headerFields: Self.fields)
    return UpstreamResponse(head: head, body: MessageBody(body))
  }
}

/// Would be asked on a miss.
struct Nowhere: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    throw UpstreamError(.unreachable, "a hit asks nobody")
  }
}

/// The least that Foundation does for a protocol.
final class ImmediateProtocol: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { true }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: FixedOrigin.dictionary)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data(count: DoorRows.size))
    client?.urlProtocolDidFinishLoading(self)
  }

  override func stopLoading() {}
}

struct Missed: Error {}
struct NoTarget: Error {}
