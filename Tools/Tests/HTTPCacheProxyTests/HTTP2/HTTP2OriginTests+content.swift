import HTTPCaching
import NIOHPACK
import NIOHTTP2
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// Content, trailers and ends of responses over HTTP/2.
extension HTTP2OriginTests {
  @Test("interim responses and trailers pass")
  func interim() async throws {
    try await withAnswers { request in
      request.head([":status": "103", "link": "</a>"])
      request.head([":status": "200"])
      request.body("body")
      request.head(["x-sum": "7"], ends: true)
    } then: { proxy in
      let response = try await get("/", from: proxy)
      #expect(response.hasPrefix("HTTP/1.1 103 ") && response.contains("HTTP/1.1 200 OK\r\n"))
      #expect(response.contains("\r\nbody\r\n") && response.hasSuffix("0\r\nx-sum: 7\r\n\r\n"))
    }
  }

  @Test("a stream that does not end once all of its content has come counts as ended", arguments: [0, 4])
  func withoutEnd(_ length: Int) async throws {
    try await withAnswers(cache: memoryCache()) { request in
      request.head([":status": "200", "content-length": "\(length)", "cache-control": "max-age=60"])
      if length > 0 { request.body("body") }
    } then: { proxy async throws in
      #expect(try await get("/", from: proxy).hasSuffix(length > 0 ? "\r\n\r\nbody" : "\r\n\r\n"))
      #expect(try await get("/", from: proxy).contains("httpcache; hit"))
    }
  }

  @Test("trailers pass behind a body of a known length")
  func trailersBehindLength() async throws {
    try await withAnswers { request in
      request.head([":status": "200", "content-length": "4"])
      request.body("body")
      request.head(["x-sum": "7"], ends: true)
    } then: { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.request(1, "/")
      let response = try await client.response(1)
      #expect(response.text == "body" && response.trailers.map(\.0) == ["x-sum"])
    }
  }

  @Test(
    "content beyond Content-Length, or in a response without content, is malformed, and is not stored (RFC 9113 §8.1.1)",
    arguments: [(200, 0), (200, 3), (204, nil)] as [(Int, Int?)])
  func tooMuch(_ status: Int, _ length: Int?) async throws {
    let count = Counter()
    try await withAnswers(cache: memoryCache()) { request in
      count.increment()
      let lengthField = length == nil ? "x-length" : "content-length"
      // In one flush, so that all of it is there when the proxy looks behind the content.
      request.head(
        [":status": "\(status)", lengthField: "\(length ?? 0)", "cache-control": "max-age=60"],
        flushes: false)
      request.body("bod", flushes: false)
      request.body("y", ends: true)
    } then: { proxy in
      for number in 1...2 {
        let response = try await get("/", from: proxy)
        #expect(!response.contains("hit") && count.value == number)
        if length != 3 { #expect(response.hasPrefix("HTTP/1.1 502 ")) }
      }
    }
  }

  @Test("HEAD and 304 have no body; a stale response is validated")
  func noBody() async throws {
    try await withAnswers(cache: memoryCache()) { request in
      if request.headers.first(name: "if-none-match") == "\"1\"" {
        request.head([":status": "304", "etag": "\"1\""], ends: true)
      } else {
        let isHead = request.headers.first(name: ":method") == "HEAD"
        request.head(
          [":status": "200", "etag": "\"1\"", "cache-control": "no-cache", "content-length": "4"],
          ends: isHead)
        if !isHead { request.body("body", ends: true) }
      }
    } then: { proxy in
      for _ in 0..<2 {
        #expect(try await get("/", from: proxy).hasSuffix("\r\n\r\nbody"))
      }
      let client = try proxy.connect(sending: "HEAD /h HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      #expect(field("Content-Length", in: try await client.receiveAll()) == "4")
    }
  }
}
