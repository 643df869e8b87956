import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section3_3_IncompleteTests {
  private let fresh: KeyValuePairs = [
    "Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Range": "bytes 0-4/10",
    "Content-Length": "5", "Content-Digest": "sha-256=:AAAA:", "Content-Type": "text/plain",
  ]

  // holds 9111-3-3, 9110-15.3.7-1
  @Test("RFC 9111 §3.3 A 206 with one part is stored as an incomplete 200")
  func storesPart() throws {
    #expect(try storing(206, fresh) == .store)
    let stored = try stored(206, fresh)
    #expect(stored.head.status == .ok)
    #expect(stored.head.headerFields[.contentRange] == nil)
    #expect(stored.head.headerFields[.contentLength] == "10")
    #expect(stored.head.headerFields[.contentType] == "text/plain")
    #expect(stored.head.headerFields[try #require(HTTPField.Name("Content-Digest"))] == nil)
    #expect(stored.facts.freshnessLifetime == 60)
  }

  @Test("RFC 9111 §3.3 The length of a part of unknown length is not made up")
  func unknownLength() throws {
    let stored = try stored(206, ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-4/*"])
    #expect(stored.head.headerFields[.contentLength] == nil)
  }

  // holds 9111-3.3-1, 9110-15.3.7-1
  @Test(
    "RFC 9111 §3.3 A 206 that does not say which octets it has is not stored",
    arguments: ["items 0-4/10", "bytes 4-0/10", "bytes */10", ""])
  func contentRange(value: String) throws {
    #expect(
      try storing(206, ["Cache-Control": "max-age=60", "Content-Range": value])
        == .doNotStore(.malformed("Content-Range")))
  }

  // holds 9110-15.3.7-1
  @Test("RFC 9110 §15.3.7.2 Several parts in one message are not stored")
  func multipart() throws {
    #expect(
      try storing(
        206,
        [
          "Cache-Control": "max-age=60", "Content-Type": "Multipart/Byteranges ; boundary=x",
        ]) == .doNotStore(.partialContent))
  }

  @Test("RFC 9110 §15.3.7 The answer to If-Range may lack fields, so it is not stored by itself")
  func ifRange() throws {
    #expect(
      try storing(206, fresh, to: get(["Range": "bytes=0-4", "If-Range": "\"a\""]))
        == .doNotStore(.partialContent))
    #expect(try storing(206, fresh, to: get(["Range": "bytes=0-4"])) == .store)
  }

  @Test("RFC 9111 §3 What forbids to store a 200 forbids to store a 206")
  func directives() throws {
    #expect(
      try storing(206, ["Cache-Control": "no-store", "Content-Range": "bytes 0-4/10"])
        == .doNotStore(.responseNoStore))
    #expect(
      try storing(206, ["Content-Range": "bytes 0-4/10"]) == .doNotStore(.neverReusable))
  }

  @Test("RFC 9111 §3.3 A range wholly within what is stored is answered")
  func within() throws {
    let kept = try stored(206, fresh)
    let part = StoredPart(ranges: [0..<5, 8..<10], length: 10)
    func ranges(_ value: String) throws -> [Range<Int64>]? {
      RangeRequest.ranges(for: try get(["Range": value]), stored: kept, part: part)
    }
    #expect(try ranges("bytes=1-3") == [1..<4])
    #expect(try ranges("bytes=-2") == [8..<10])
    #expect(try ranges("bytes=9-") == [9..<10])
    #expect(try ranges("bytes=0-0,8-9") == [0..<1, 8..<10])
  }

  // holds 9111-3.3-2, 9110-15.3.7.3-3
  @Test(
    "RFC 9111 §3.3 An incomplete response answers nothing else",
    arguments: ["bytes=0-", "bytes=3-8", "bytes=-5", "bytes=5-6", "bytes=0-0,6-6", "items=0-1"])
  func beyond(value: String) throws {
    let kept = try stored(206, fresh)
    let part = StoredPart(ranges: [0..<5, 8..<10], length: 10)
    #expect(RangeRequest.ranges(for: try get(["Range": value]), stored: kept, part: part) == nil)
    #expect(RangeRequest.ranges(for: try get(), stored: kept, part: part) == nil)
    #expect(
      RangeRequest.ranges(
        for: try get(method: .head, ["Range": "bytes=0-1"]), stored: kept, part: part) == nil)
  }

  @Test("RFC 9110 §14.1.2 Without the length only ranges with both positions are answered")
  func withoutLength() throws {
    let kept = try stored(206, ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-4/*"])
    let part = StoredPart(ranges: [0..<5], length: nil)
    func ranges(_ value: String) throws -> [Range<Int64>]? {
      RangeRequest.ranges(for: try get(["Range": value]), stored: kept, part: part)
    }
    #expect(try ranges("bytes=1-4") == [1..<5])
    #expect(try ranges("bytes=1-5") == nil)
    #expect(try ranges("bytes=1-") == nil)
    #expect(try ranges("bytes=-1") == nil)
    let head = RangeRequest.head(kept.head, range: 1..<5, length: nil, answering: try get())
    #expect(head.headerFields[.contentRange] == "bytes 1-4/*")
  }

  // holds 9110-13.1.5-7
  @Test("RFC 9110 §13.1.5 If-Range with another validator asks for more than a part")
  func clientIfRange() throws {
    let kept = try stored(206, fresh)
    let part = StoredPart(ranges: [0..<5], length: 10)
    #expect(
      RangeRequest.ranges(
        for: try get(["Range": "bytes=0-1", "If-Range": "\"a\""]), stored: kept, part: part)
        == [0..<2])
    #expect(
      RangeRequest.ranges(
        for: try get(["Range": "bytes=0-1", "If-Range": "\"b\""]), stored: kept, part: part) == nil)
  }

  @Test("A part that is not what its Content-Range said answers the same request again")
  func requestedRange() throws {
    var kept = try stored(206, fresh)
    kept.requestedRange = "bytes=-5"
    let part = StoredPart(ranges: [4..<9], length: 10)
    #expect(
      RangeRequest.ranges(for: try get(["Range": "bytes=-5"]), stored: kept, part: part) == [4..<9])
    #expect(RangeRequest.ranges(for: try get(["Range": "bytes=-4"]), stored: kept, part: part) == nil)
  }

  @Test("What is missing is one run of octets")
  func missing() {
    let part = StoredPart(ranges: [0..<5, 8..<10, 20..<30], length: 40)
    #expect(part.missing(in: 0..<40) == 5..<40)
    #expect(part.missing(in: 0..<9) == 5..<8)
    #expect(part.missing(in: 2..<25) == 5..<20)
    #expect(part.missing(in: 6..<7) == 6..<7)
    #expect(part.missing(in: 21..<29) == nil)
    #expect(part.prefix == 5)
    #expect(StoredPart(ranges: [1..<5], length: nil).prefix == 0)
  }
}
