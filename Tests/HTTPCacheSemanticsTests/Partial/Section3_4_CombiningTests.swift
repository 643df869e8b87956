import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section3_4_CombiningTests {
  private let fresh: KeyValuePairs = [
    "Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": "10", "X": "old",
    "Date": "Fri, 06 Nov 2020 12:00:00 GMT",
  ]

  private func range(
    _ pairs: KeyValuePairs<String, String>, status: Int = 206, in kept: StoredResponse? = nil,
    length: Int64? = 10
  ) throws -> Range<Int64>? {
    PartialContent.range(
      of: try response(status, pairs), in: try kept ?? stored(200, fresh), length: length,
      receivedAt: today)
  }

  @Test("RFC 9111 §3.4 Parts with the same strong validator belong together")
  func same() throws {
    #expect(try range(["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"]) == 5..<10)
    #expect(try range(["ETag": "\"a\"", "Content-Range": "bytes 5-9/*"]) == 5..<10)
  }

  // holds 9110-14.4-1, 9110-14.4-5
  @Test("RFC 9111 §3.4 Parts of anything else are never mixed")
  func other() throws {
    #expect(try range(["ETag": "\"b\"", "Content-Range": "bytes 5-9/10"]) == nil)
    #expect(try range(["ETag": "W/\"a\"", "Content-Range": "bytes 5-9/10"]) == nil)
    #expect(try range(["Content-Range": "bytes 5-9/10"]) == nil)
    #expect(
      try range(
        ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"],
        in: stored(
          200,
          [
            "Cache-Control": "max-age=60", "ETag": "W/\"a\"",
          ])) == nil)
    #expect(try range(["ETag": "\"a\"", "Content-Range": "bytes 5-9/11"]) == nil)
    #expect(try range(["ETag": "\"a\"", "Content-Range": "bytes 5-10/*"]) == nil)
    #expect(try range(["ETag": "\"a\"", "Content-Range": "bytes 9-5/10"]) == nil)
    #expect(try range(["ETag": "\"a\"", "Content-Range": "items 5-9/10"]) == nil)
    #expect(try range(["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"], status: 200) == nil)
    #expect(
      try range([
        "ETag": "\"a\"", "Content-Range": "bytes 5-9/10", "Content-Encoding": "gzip",
      ]) == nil)
    #expect(
      try range(
        ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"],
        in: stored(
          200, fresh, isDecoded: true)) == nil)
  }

  // holds 9110-13.1.5-5
  @Test("RFC 9110 §8.8.2.2 A date is strong if the response was sent at least a second after it")
  func dates() throws {
    let modified = "Fri, 06 Nov 2020 11:00:00 GMT"
    let kept = try stored(
      200,
      [
        "Cache-Control": "max-age=60", "Last-Modified": modified,
        "Date": "Fri, 06 Nov 2020 12:00:00 GMT",
      ])
    let date = "Fri, 06 Nov 2020 12:00:10 GMT"
    #expect(
      try range(
        ["Last-Modified": modified, "Date": date, "Content-Range": "bytes 5-9/10"], in: kept)
        == 5..<10)
    #expect(
      try range(
        [
          "Last-Modified": "Fri, 06 Nov 2020 11:00:01 GMT", "Date": date,
          "Content-Range": "bytes 5-9/10",
        ], in: kept) == nil)
    let weak = try stored(
      200,
      [
        "Cache-Control": "max-age=60", "Last-Modified": modified, "Date": modified,
      ])
    #expect(!PartialContent.isResumable(weak))
    #expect(PartialContent.isResumable(kept))
  }

  @Test("RFC 9110 §13.1.5 What is missing is asked for under the condition that it belongs")
  func request() throws {
    let kept = try stored(200, fresh)
    let asked = PartialContent.request(
      try get(["Accept": "x", "Range": "bytes=0-", "If-None-Match": "\"z\"", "If-Range": "\"z\""]),
      completing: kept, missing: 5..<10, length: 10)
    #expect(asked.headerFields[.range] == "bytes=5-")
    #expect(asked.headerFields[fields: .ifRange].map(\.value) == ["\"a\""])
    #expect(asked.headerFields[.ifNoneMatch] == nil)
    #expect(asked.headerFields[.accept] == "x")
    func range(_ missing: Range<Int64>, _ length: Int64?) throws -> String? {
      PartialContent.request(try get(), completing: kept, missing: missing, length: length)
        .headerFields[.range]
    }
    #expect(try range(5..<7, 10) == "bytes=5-6")
    #expect(try range(5..<Int64.max, nil) == "bytes=5-")
  }

  // holds 9110-13.1.5-4, 9110-13.1.5-5
  @Test("RFC 9110 §13.1.5 A date is the condition only where there is no entity tag")
  func requestByDate() throws {
    let modified = "Fri, 06 Nov 2020 11:00:00 GMT"
    let kept = try stored(
      200,
      [
        "Cache-Control": "max-age=60", "Last-Modified": modified,
        "Date": "Fri, 06 Nov 2020 12:00:00 GMT",
      ])
    let asked = PartialContent.request(try get(), completing: kept, missing: 5..<10, length: 10)
    #expect(asked.headerFields[.ifRange] == modified)
    let weak = try stored(
      200,
      [
        "Cache-Control": "max-age=60", "Last-Modified": modified, "ETag": "W/\"a\"",
        "Date": "Fri, 06 Nov 2020 12:00:00 GMT",
      ])
    #expect(!PartialContent.isResumable(weak))
  }

  @Test("RFC 9110 §14.3 An origin that refuses ranges is not asked for the rest")
  func acceptRanges() throws {
    #expect(PartialContent.isResumable(try stored(200, fresh)))
    #expect(
      !PartialContent.isResumable(
        try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Accept-Ranges": "none"])))
    #expect(
      !PartialContent.isResumable(
        try stored(404, ["Cache-Control": "max-age=60", "ETag": "\"a\""])))
  }

  // holds 9111-3.4-1, 9110-15.3.7.3-1
  @Test("RFC 9111 §3.4 The stored header fields are updated with those of the new response")
  func updates() throws {
    let combined = PartialContent.combined(
      try stored(200, fresh),
      with: ReceivedResponse(
        try response(
          206,
          [
            "ETag": "\"a\"", "Content-Range": "bytes 5-9/10", "Content-Length": "5", "X": "new",
            "Cache-Control": "max-age=99", "Date": "Fri, 06 Nov 2020 12:01:00 GMT",
          ]), requestTime: today.adding(60), responseTime: today.adding(60)), length: 10, rules: privateRules,
      answering: try get(), digest: reversing)
    #expect(combined.head.status == .ok)
    #expect(combined.head.headerFields[try #require(HTTPField.Name("X"))] == "new")
    #expect(combined.head.headerFields[.contentLength] == "10")
    #expect(combined.head.headerFields[.contentRange] == nil)
    #expect(combined.facts.freshnessLifetime == 99)
    #expect(combined.responseTime == today.adding(60))
  }
}
