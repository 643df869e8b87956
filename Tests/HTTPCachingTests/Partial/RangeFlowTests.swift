import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Ranges of a stored response through the engine (RFC 9110 §14, §15.3.7)", .timeLimit(.minutes(10)))
struct RangeFlowTests {
  private let test = TestCache()

  private func stored() async throws {
    try await test.store(
      [.cacheControl: "max-age=10", .eTag: "\"a\"", .contentType: "text/plain"], "0123456789")
  }

  // holds 9110-15.3.7.2-1, 9110-15.3.7.2-2, 9110-15.3.7.2-3, 9110-15.3.7.2-4, 9110-15.3.7.2-7
  @Test("several ranges: multipart/byteranges, each part with its range and type, as asked for")
  func multipart() async throws {
    try await stored()
    let answer = try await test.get("/", [.range: "bytes=7-8, 0-1, 99-, -1"])
    #expect(answer.status == 206)
    #expect(answer.head.headerFields[.contentRange] == nil)
    let type = try #require(answer.head.headerFields[.contentType])
    let start = "multipart/byteranges; boundary="
    try #require(type.hasPrefix(start))
    let boundary = type.dropFirst(start.count)
    let parts = [("7-8", "78"), ("0-1", "01"), ("9-9", "9")].map { range, text in
      "--\(boundary)\r\nContent-Type: text/plain\r\nContent-Range: bytes \(range)/10\r\n\r\n\(text)\r\n"
    }
    #expect(answer.text == parts.joined() + "--\(boundary)--\r\n")
    #expect(answer.head.headerFields[.contentLength] == String(answer.text.utf8.count))
    #expect(test.origin.requests.count == 1)
  }

  @Test("a 206 made from a stored 200 has no trailers of the whole (RFC 9530 §2)")
  func trailers() async throws {
    test.origin.streams([.cacheControl: "max-age=10", .eTag: "\"a\""]) { _ in
      TestBody(piece: [65], count: 4, trailers: [.xN: "42"])
    }
    try await test.get("/")
    let answer = try await test.get("/", [.range: "bytes=1-2"])
    #expect(answer.status == 206 && answer.text == "AA")
    #expect(answer.trailers.isEmpty)
    #expect(test.origin.requests.count == 1)
  }

  // holds 9110-15.3.7.2-5, 9110-15.3.7.1-1
  @Test("one range is no multipart, even if others beside it cannot be satisfied")
  func single() async throws {
    try await stored()
    for value in ["bytes=2-3", "bytes=2-3, 99-"] {
      let answer = try await test.get("/", [.range: value])
      #expect(answer.status == 206)
      #expect(answer.head.headerFields[.contentType] == "text/plain")
      #expect(answer.head.headerFields[.contentRange] == "bytes 2-3/10")
      #expect(answer.text == "23")
    }
  }

  // holds 9110-14.4-3
  @Test("Content-Range in a request for what is stored changes nothing")
  func contentRangeInRequest() async throws {
    try await stored()
    let answer = try await test.get("/", [.contentRange: "bytes 0-1/10"])
    #expect(answer.status == 200)
    #expect(answer.text == "0123456789")
  }

  @Test("a 200 with the Content-Range of a requested part is not stored as the whole")
  func partAs200() async throws {
    test.origin.always(
      200, [.cacheControl: "max-age=60", .contentRange: "bytes 0-99/1000"],
      String(repeating: "a", count: 100))
    try await test.get("/", [.range: "bytes=0-99"])
    test.origin.always(200, [.cacheControl: "max-age=60"], "whole")
    #expect(try await test.get("/").text == "whole")
    #expect(test.origin.requests.count == 2)
  }

  // holds 9110-14.4-2, 9111-3.3-1
  @Test("a 206 in an unknown unit is passed on as it came")
  func unknownUnit() async throws {
    let fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\"", .contentRange: "items 0-1/5"]
    test.origin.always(206, fields, "ab")
    for _ in 0..<2 {
      let answer = try await test.get("/", [.range: "items=0-1"])
      #expect(answer.status == 206)
      #expect(answer.head.headerFields[.contentRange] == "items 0-1/5")
      #expect(answer.text == "ab")
    }
    #expect(test.origin.requests.count == 2)
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 9).entries.isEmpty)
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"a\""], "whole")
    #expect(try await test.get("/").text == "whole")
  }
}
