import Foundation
import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import Testing

@testable import HTTPCacheURLSession

@Suite(.timeLimit(.minutes(10))) struct ResponseConversionTests {
  private func urlResponse(_ fields: [String: String], status: Int = 200) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://a.test/"))
    return try #require(
      HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
  }

  private func ours(_ head: HTTPResponse, url: String = "http://a.test/") throws
    -> CachedHTTPURLResponse
  {
    let response = CacheResponse(
      head: head, body: .empty, outcome: .hit(age: .seconds(7), lifetime: .seconds(60), allowance: nil),
      finalTarget: url, redirects: [.hit(age: .seconds(1), lifetime: .seconds(2), allowance: nil)])
    let url = try #require(URL(string: url))
    return try #require(CachedHTTPURLResponse(response, url: url))
  }

  @Test("cookies above the limit of a head are dropped", arguments: ["a=,", "a=b, "])
  func manyCookies(_ cookie: String) throws {
    let value = String(repeating: cookie, count: 70_000)
    let head = try #require(HTTPResponse(urlResponse(["Set-Cookie": value])))
    #expect(head.headerFields.count == HTTPFields.countLimit)
  }

  @Test func statusAndFieldsArePassedOn() throws {
    let response = try urlResponse(["ETag": "\"a\"", "cache-control": "max-age=1"], status: 203)
    let head = try #require(HTTPResponse(response))
    #expect(head.status.code == 203)
    #expect(head.headerFields[.eTag] == "\"a\"")
    #expect(head.headerFields[.cacheControl] == "max-age=1")
  }

  @Test(arguments: [0, 99, 1000, -1])
  func statusWithoutThreeDigitsIsRefused(status: Int) throws {
    #expect(try HTTPResponse(urlResponse([:], status: status)) == nil)
  }

  @Test func linesOfSetCookieAreTakenApart() throws {
    let joined =
      "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2, c=\"x\"; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
    let response = try urlResponse(["Set-Cookie": joined])
    let head = try #require(HTTPResponse(response))
    #expect(
      head.headerFields[values: .setCookie] == [
        "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2",
        "c=\"x\"; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
      ])
    #expect(head.headerFields.dictionary["Set-Cookie"] == joined)
  }

  @Test func namesThatDifferInCaseAreOneField() throws {
    let response = try urlResponse(["X-Dup": "1", "x-dup": "2"])
    let head = try #require(HTTPResponse(response))
    #expect(head.headerFields["x-dup"] == ["1", "2"])
    #expect(head.headerFields.dictionary == ["X-Dup": "1, 2"])
  }

  @Test func octetsOutsideASCIIKeepTheirText() throws {
    let response = try urlResponse(["X-Text": "größe 日本"])
    let head = try #require(HTTPResponse(response))
    #expect(head.headerFields["X-Text"] == ["größe 日本"])
    let name = try #require(HTTPField.Name("X-Latin"))
    let latin = HTTPField(name: name, value: [0x67, 0x72, 0xF6] as [UInt8])
    #expect(latin.text == "grö")
  }

  @Test func namesThatAreNoneAreLeftOutAndControlsAreNot() throws {
    let fields = HTTPFields(["a b": "x", "": "y", "X-Line": "a\r\nInjected: b"])
    #expect(fields.count == 1)
    #expect(fields["X-Line"] == ["a  Injected: b"])
  }

  @Test func responseIsOneOfFoundations() throws {
    var head = HTTPResponse(status: .notFound)
    head.headerFields[.contentType] = "Text/HTML; charset=UTF-8"
    head.headerFields[.contentLength] = "12"
    head.headerFields.append(HTTPField(name: .setCookie, value: "a=1"))
    head.headerFields.append(HTTPField(name: .setCookie, value: "b=2"))
    let response: URLResponse = try ours(head, url: "http://a.test/x/file.html?q")
    let http = try #require(response as? HTTPURLResponse)
    #expect(http.statusCode == 404)
    #expect(http.value(forHTTPHeaderField: "SET-COOKIE") == "a=1, b=2")
    #expect(http.mimeType == "text/html")
    #expect(http.textEncodingName == "utf-8")
    #expect(http.expectedContentLength == 12)
    #expect(http.url?.absoluteString == "http://a.test/x/file.html?q")
  }

  @Test func copiesKnowWhereTheResponseCameFrom() throws {
    let response = try ours(HTTPResponse(status: .ok))
    let copy = try #require(response.copy() as? URLResponse)
    #expect(copy.cacheOutcome == .hit(age: .seconds(7), lifetime: .seconds(60), allowance: nil))
    #expect(copy.cacheRedirects.count == 1)
    let wrapped = CachedURLResponse(response: response, data: Data())
    #expect(wrapped.response.cacheOutcome == response.outcome)
  }

  @Test func archivingKeepsWhatFoundationKnows() throws {
    let response = try ours(
      HTTPResponse(status: .ok, headerFields: [.contentType: "a/b", .eTag: "\"x\""]))
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: response, requiringSecureCoding: true)
    let found = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: archive)
    let read = try #require(found)
    #expect(read.statusCode == 200)
    #expect(read.value(forHTTPHeaderField: "ETag") == "\"x\"")
    #expect(read.cacheOutcome == nil)
  }

  @Test func otherResponsesHaveNoOutcome() throws {
    #expect(try urlResponse([:]).cacheOutcome == nil)
    let url = try #require(URL(string: "file:///x"))
    let plain = URLResponse(
      url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
    #expect(plain.cacheOutcome == nil)
    #expect(plain.cacheRedirects.isEmpty)
  }
}
