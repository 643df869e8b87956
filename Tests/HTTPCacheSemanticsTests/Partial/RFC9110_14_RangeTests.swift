import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RFC9110_14_RangeTests {
  private func decision(
    _ value: String, length: Int64 = 10_000, kept: StoredResponse? = nil,
    method: HTTPRequest.Method = .get
  ) throws -> RangeDecision {
    RangeRequest.evaluate(
      try get(method: method, ["Range": value]), stored: try kept ?? stored(200), length: length)
  }

  // holds 9110-14.1-1, 9110-14.2-4
  @Test("RFC 9110 §14.1.2 The examples of the text")
  func examples() throws {
    #expect(try decision("bytes=0-499") == .partial([0..<500]))
    #expect(try decision("bytes=500-999") == .partial([500..<1000]))
    #expect(try decision("bytes=-500") == .partial([9500..<10_000]))
    #expect(try decision("bytes=9500-") == .partial([9500..<10_000]))
    #expect(try decision("bytes=0-0,-1") == .partial([0..<1, 9999..<10_000]))
    #expect(
      try decision("bytes= 0-999, 4500-5499, -1000")
        == .partial([0..<1000, 4500..<5500, 9000..<10_000]))
    #expect(try decision("bytes=500-700,601-999") == .partial([500..<701, 601..<1000]))
    #expect(try decision("BYTES=0-99999999") == .partial([0..<10_000]))
    #expect(try decision("bytes=-99999999") == .partial([0..<10_000]))
  }

  // holds 9110-14.1.2-1
  @Test("RFC 9110 §14.1.2 Numbers of any size do not overflow")
  func huge() throws {
    let huge = String(repeating: "9", count: 100)
    #expect(try decision("bytes=0-\(huge)") == .partial([0..<10_000]))
    #expect(try decision("bytes=-\(huge)") == .partial([0..<10_000]))
    #expect(try decision("bytes=\(huge)-") == .unsatisfiable)
    #expect(try decision("bytes=\(huge)-\(huge)", length: .max) == .unsatisfiable)
  }

  // holds 9110-14.2-5
  @Test("RFC 9110 §15.5.17 Only ranges beyond the end are unsatisfiable")
  func unsatisfiable() throws {
    #expect(try decision("bytes=10000-") == .unsatisfiable)
    #expect(try decision("bytes=-0") == .unsatisfiable)
    #expect(try decision("bytes=10000-, 0-0") == .partial([0..<1]))
  }

  // holds 9110-14.2-3
  @Test(
    "RFC 9110 §14.2 Malformed and abusive ranges are ignored",
    arguments: [
      "bytes", "bytes=", "bytes=a-b", "bytes=5-4", "bytes=-", "bytes=1", "bytes=1-2-3", "items=0-1",
      "bytes=0-1;x", "bytes=--1", "bytes=0-,0-", "bytes=0-9,5-15,9-20", "bytes =0-1", "bytes=0x1-2",
      (0..<17).map { "\($0 * 10)-\($0 * 10)" }.joined(separator: ","),
    ].map { $0.hasPrefix("0-0,") ? "bytes=" + $0 : $0 })
  func ignored(value: String) throws {
    #expect(try decision(value) == .whole)
  }

  // holds 9110-14.2-2
  @Test("RFC 9110 §14.2 Ranges apply to GET, to 200 and to a body as it was on the wire")
  func applicable() throws {
    #expect(try decision("bytes=0-1", method: .head) == .whole)
    #expect(try decision("bytes=0-1", kept: stored(404)) == .whole)
    #expect(try decision("bytes=0-1", kept: stored(200, isDecoded: true)) == .whole)
    #expect(try decision("bytes=0-1", length: 0) == .whole)
    #expect(try RangeRequest.evaluate(get(), stored: stored(200), length: 5) == .whole)
  }

  // holds 9110-13.1.5-6, 9110-13.1.5-7, 9110-13.1.5-8, 9110-8.8.3.2-1
  @Test("RFC 9110 §13.1.5 If-Range must match strongly")
  func ifRange() throws {
    func decision(
      _ condition: String, _ pairs: KeyValuePairs<String, String>
    ) throws -> RangeDecision {
      RangeRequest.evaluate(
        try get(["Range": "bytes=0-1", "If-Range": condition]), stored: try stored(200, pairs),
        length: 10)
    }
    let modified = "Fri, 06 Nov 2020 10:00:00 GMT"
    #expect(try decision("\"1\"", ["ETag": "\"1\""]) == .partial([0..<2]))
    #expect(try decision("\"1\"", ["ETag": "\"2\""]) == .whole)
    #expect(try decision("W/\"1\"", ["ETag": "W/\"1\""]) == .whole)
    #expect(try decision("\"1\"", [:]) == .whole)
    #expect(try decision(modified, ["Last-Modified": modified]) == .partial([0..<2]))
    #expect(
      try RangeRequest.evaluate(
        get(["If-Range": "\"2\""]), stored: stored(200, ["ETag": "\"1\""]), length: 10) == .whole)
    #expect(try decision(modified, ["Last-Modified": modified, "Date": modified]) == .whole)
    #expect(
      try decision("Fri, 06 Nov 2020 11:00:00 GMT", ["Last-Modified": modified]) == .whole)
    #expect(try decision("garbage", ["Last-Modified": modified]) == .whole)
  }

  // holds 9110-14.4-4, 9110-15.3.7.1-1, 9530-2-1
  @Test("RFC 9110 §15.3.7.1 The head of a 206 describes its part")
  func partialHead() throws {
    let head = RangeRequest.head(
      try response(200, ["Content-Length": "10", "ETag": "\"1\"", "Content-Digest": "x"]),
      range: 2..<5, length: 10, answering: try get())
    #expect(
      try head
        == response(
          206, ["Content-Length": "3", "ETag": "\"1\"", "Content-Range": "bytes 2-4/10"]))
  }

  // holds 9110-15.3.7-2, 9110-15.3.7-4
  @Test("RFC 9110 §15.3.7 A 206 has the fields of the 200, of caches and of the representation")
  func partialFields() throws {
    let all: KeyValuePairs = [
      "Date": today.httpDate, "Cache-Control": "max-age=60", "ETag": "\"1\"",
      "Expires": "Fri, 06 Nov 2020 13:00:00 GMT", "Content-Location": "/x", "Vary": "Foo",
      "Content-Type": "text/plain", "Content-Language": "en", "Content-Encoding": "gzip",
      "Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT",
    ]
    let head = RangeRequest.head(
      try response(200, all), range: 0..<1, length: 10, answering: try get())
    for (name, value) in all {
      #expect(head.headerFields[values: try #require(HTTPField.Name(name))] == [value])
    }
  }

  // holds 9110-15.3.7-2, 9110-15.3.7-3
  @Test("RFC 9110 §15.3.7 A client with If-Range has the other representation fields already")
  func ifRangeFields() throws {
    let head = RangeRequest.head(
      try response(
        200,
        [
          "Date": today.httpDate, "ETag": "\"1\"", "Content-Location": "/x", "Vary": "Foo",
          "Content-Type": "text/plain", "Content-Language": "en", "Content-Encoding": "gzip",
          "Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT",
        ]),
      range: 0..<1, length: 10, answering: try get(["Range": "bytes=0-0", "If-Range": "\"1\""]))
    #expect(
      try head
        == response(
          206,
          [
            "Date": today.httpDate, "ETag": "\"1\"", "Content-Location": "/x", "Vary": "Foo",
            "Content-Range": "bytes 0-0/10", "Content-Length": "1",
          ]))
  }

  // holds 9110-14.4-6, 9110-15.5.17-1
  @Test("RFC 9110 §15.5.17 The head of a 416 tells the length")
  func unsatisfiableHead() throws {
    let head = RangeRequest.unsatisfiableHead(
      try response(200, ["Date": today.httpDate, "ETag": "\"1\""]), length: 10)
    #expect(head.status.code == 416)
    #expect(head.headerFields[.contentRange] == "bytes */10")
    #expect(head.headerFields[.date] == today.httpDate)
    #expect(head.headerFields[.eTag] == nil)
  }
}
