import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

/// Which bytes belong together.
@Suite("Records of parts", .timeLimit(.minutes(10)))
struct PartRecordTests {
  @Test("a response without a strong validator, of refused ranges or with a dated variant is not continued")
  func possible() {
    #expect(PartRecord.sample() != nil && PartRecord.sample(length: nil) != nil)
    for fields in [
      [:], [.eTag: "W/\"1\""], [.eTag: "\"1\"", .acceptRanges: "none"],
      [.lastModified: "Tue, 15 Nov 1994 12:45:26 GMT"],
      [.lastModified: "Tue, 15 Nov 1994 08:12:31 GMT", .vary: "accept"],
    ] as [HTTPFields] {
      #expect(PartRecord.sample(fields) == nil, "\(fields)")
    }
    #expect(PartRecord.sample(length: 0) == nil)
    var request = HTTPRequest.sample("http://a/x")
    request.headerFields[.range] = "bytes=0-1"
    #expect(!PartRecord.isPossible(for: request))
  }

  @Test("a part belongs to its URL and scope")
  func belongs() throws {
    let record = try #require(PartRecord.sample(url: "http://a/x?q=1", scope: "anna"))
    #expect(record.belongs(to: HTTPRequest.sample("http://a/x?q=1"), scope: "anna"))
    #expect(!record.belongs(to: HTTPRequest.sample("http://a/x?q=1"), scope: "ben"))
    #expect(!record.belongs(to: HTTPRequest.sample("http://a/x?q=1")))
    #expect(!record.belongs(to: HTTPRequest.sample("http://a/x"), scope: "anna"))
  }

  @Test(
    "a part goes on at any URL that a redirect names by its entity tag, by a date at the same URL alone",
    arguments: ["http://a/x?sig=2", "http://a/x?sig=1", "http://a/y?sig=1", "http://b/x"])
  func redirects(target: String) throws {
    func belongs(_ name: HTTPField.Name, _ value: String, url: String) throws -> Bool {
      let record = try #require(PartRecord.sample([name: value], url: url, target: "http://a/x?sig=1"))
      return record.mayBeSame(target: target)
    }
    #expect(try belongs(.eTag, "\"1\"", url: "http://a/start"))
    let date = "Tue, 15 Nov 1994 08:12:31 GMT"
    #expect(try belongs(.lastModified, date, url: "http://a/start") == (target == "http://a/x?sig=1"))
    #expect(try belongs(.eTag, "\"1\"", url: "http://a/x?sig=1"))
  }

  @Test(
    "the answer to a range says what it has",
    arguments: [
      (206, "\"1\"", "bytes 4-8/9", .rest(4..<9)), (206, "\"1\"", "bytes 4-5/*", .rest(4..<6)),
      (206, "\"2\"", "bytes 4-8/9", .useless(isChanged: true)),
      (206, nil, "bytes 4-8/9", .useless(isChanged: false)),
      (206, "\"1\"", "bytes 4-8/10", .useless(isChanged: true)),
      (206, "\"1\"", "bytes 3-8/9", .useless(isChanged: false)),
      (206, "\"1\"", "nonsense", .useless(isChanged: false)),
      (200, "\"1\"", nil, .whole(isChanged: false)), (200, "\"2\"", nil, .whole(isChanged: true)),
      (200, "\"1\"", "bytes 0-8/9", .whole(isChanged: false)),
      (
        200, "\"1\"", "bytes 4-8/9",
        .contradictory("the origin sends a 200 with 'Content-Range: bytes 4-8/9'")
      ),
      (304, "\"1\"", nil, .useless(isChanged: false)),
      (416, nil, nil, .useless(isChanged: true)), (503, nil, nil, .failure), (204, nil, nil, .failure),
      (202, "\"1\"", nil, .failure),
    ] as [(Int, String?, String?, PartRecord.Answer)])
  func answers(status: Int, tag: String?, range: String?, answer: PartRecord.Answer) throws {
    let record = try #require(PartRecord.sample())
    var head = HTTPResponse(status: .init(code: status))
    head.headerFields[.eTag] = tag
    head.headerFields[.contentRange] = range
    #expect(record.answer(head, from: nil, to: 4..<9, now: PartRecord.sampleTime) == answer)
    let request = record.request(HTTPRequest.sample("http://a/x"), for: 4..<9)
    #expect(request.headerFields[.range] == "bytes=4-" && request.headerFields[.ifRange] == "\"1\"")
    #expect(request.headerFields[.acceptEncoding] == "identity")
  }

  @Test("a Content-Length other than that of the range, or of the whole, is not the file")
  func lengths() throws {
    let record = try #require(PartRecord.sample())
    var head = HTTPResponse(status: .partialContent)
    head.headerFields = [.eTag: "\"1\"", .contentRange: "bytes 4-8/9"]
    for (length, answer) in [
      ("5", .rest(4..<9)), ("4", .useless(isChanged: false)), ("9", .useless(isChanged: false)),
    ] as [(String, PartRecord.Answer)] {
      head.headerFields[.contentLength] = length
      #expect(record.answer(head, from: nil, to: 4..<9, now: PartRecord.sampleTime) == answer)
    }
    var whole = HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\"", .contentLength: "9"])
    #expect(record.contradiction(of: whole, now: PartRecord.sampleTime) == nil)
    whole.headerFields[.contentLength] = "8"
    #expect(
      record.contradiction(of: whole, now: PartRecord.sampleTime)
        == "the origin sends 8 bytes under the validator of 9 bytes")
    whole.headerFields[.contentEncoding] = "gzip"
    #expect(record.contradiction(of: whole, now: PartRecord.sampleTime) == nil)
  }
}

extension PartRecord {
  static let sampleTime = Timestamp(seconds: 784_903_526)

  static func sample(
    _ fields: HTTPFields = [.eTag: "\"1\""], url: String = "http://a/x", target: String? = nil,
    scope: String = "", length: Int64? = 9
  ) -> PartRecord? {
    var fields = fields
    fields[.date] = "Tue, 15 Nov 1994 12:45:26 GMT"
    return PartRecord(
      of: HTTPResponse(status: .ok, headerFields: fields), to: .sample(url), from: target ?? url,
      scope: scope, length: length, now: sampleTime)
  }
}

extension HTTPRequest {
  static func sample(_ url: String) -> HTTPRequest {
    let path = url.dropFirst("http://a".count)
    return HTTPRequest(method: .get, scheme: "http", authority: "a", path: String(path))
  }
}
