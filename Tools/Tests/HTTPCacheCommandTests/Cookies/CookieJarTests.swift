import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// The cookies of a run, and files of cookies.
@Suite("RFC 6265 §5.3, §5.4: the jar", .timeLimit(.minutes(10))) struct CookieJarTests {
  private let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))

  private func jar(_ cookies: [Cookie] = []) throws -> CookieJar {
    try CookieJar(cookies, clock: clock, suffixes: CookieTests.suffixes)
  }

  private func request(_ url: String) throws -> HTTPRequest { try TargetURL(parsing: url).request() }

  private func set(_ jar: CookieJar, _ values: String..., from url: String = "https://example.com/") throws {
    var response = HTTPResponse(status: .ok)
    for value in values { response.headerFields.append(HTTPField(name: .setCookie, value: value)) }
    jar.take(from: response, to: try request(url))
  }

  private func sent(_ jar: CookieJar, to url: String = "https://example.com/", beside own: String? = nil)
    throws
    -> String?
  {
    var request = try request(url)
    if let own { request.headerFields[.cookie] = own }
    jar.addCookies(to: &request)
    return request.headerFields[.cookie]
  }

  @Test("§5.4: the longest path comes first, then the earliest; the user's own come last")
  func order() throws {
    let jar = try jar()
    try set(jar, "a=1; Path=/", "b=2; Path=/x", "c=3; Path=/")
    try set(jar, "a=4; Path=/")
    #expect(try sent(jar, to: "https://example.com/x/y", beside: "d=5") == "b=2; a=4; c=3; d=5")
    #expect(try sent(jar, to: "https://example.com/") == "a=4; c=3")
    #expect(try sent(jar, to: "https://example.org/") == nil)
  }

  @Test("§5.3, step 11: an expired cookie removes an earlier one of its name, domain and path")
  func removing() throws {
    let jar = try jar()
    try set(jar, "a=1", "b=2; Max-Age=60")
    try set(jar, "a=; Max-Age=0")
    #expect(try sent(jar) == "b=2")
    clock.advance(by: .seconds(61))
    #expect(try sent(jar) == nil)
  }

  @Test("http does not replace a cookie for https alone")
  func shadowing() throws {
    let jar = try jar()
    try set(jar, "a=1; Secure")
    try set(jar, "a=2", from: "http://example.com/")
    #expect(try sent(jar) == "a=1")
    #expect(try sent(jar, to: "http://example.com/") == nil)
  }

  @Test(
    "RFC 6265bis, Storage Model: http hides no cookie for https alone, in its domain, above or below, at or below its path",
    arguments: [
      ("Domain=example.com", "Path=/docs", "http://www.example.com/docs/x", "Path=/docs", false),
      ("Domain=example.com", "Path=/docs", "http://www.example.com/docs/x", "Path=/docs/x", false),
      ("", "Path=/docs", "http://example.com/", "Domain=example.com; Path=/docs", false),
      ("Domain=example.com", "Path=/docs", "http://www.example.com/docs/x", "Path=/", true),
      ("Domain=example.com", "Path=/docs", "http://www.example.com/docs/x", "Path=/docsx", true),
      ("", "Path=/docs", "http://a.example.com/docs/", "Path=/docs", true),
    ])
  func overlay(domain: String, path: String, url: String, attributes: String, isTaken: Bool) throws {
    let jar = try jar()
    try set(jar, "a=1; Secure; \(domain); \(path)", from: "https://www.example.com/docs/")
    try set(jar, "a=2; \(attributes)", from: url)
    #expect(jar.all.contains { $0.value == "2" } == isTaken)
    #expect(jar.all.first?.value == "1")
  }

  @Test("http evicts no cookie for https alone, of its domain or in all, and is refused where all others are")
  func evictingSecure() throws {
    let jar = try jar()
    try set(jar, "session=1; Secure", "plain=1")
    for number in 0..<400 { try set(jar, "n\(number)=1", from: "http://example.com/") }
    #expect(jar.all.count == 150)
    #expect(jar.all.first?.name == "session" && !jar.all.contains { $0.name == "plain" })
    for number in 0..<150 { try set(jar, "s\(number)=1; Secure") }
    #expect(jar.all.count == 150 && jar.all.allSatisfy(\.isSecure))
    let before = jar.all
    try set(jar, "late=1", from: "http://example.com/")
    #expect(jar.all == before)
    for number in 0..<2_850 { try set(jar, "s=1; Secure", from: "https://h\(number).example.org/") }
    #expect(jar.all.count == 3_000)
    try set(jar, "late=1", from: "http://other.example/")
    #expect(jar.all.count == 3_000 && !jar.all.contains { $0.name == "late" })
    try set(jar, "late=1", from: "https://other.example/")
    #expect(jar.all.count == 3_000 && jar.all.last?.name == "late")
  }

  @Test("cookies of a file: a later one takes the place of an earlier one; expired ones do not count")
  func reading() throws {
    func cookie(_ name: String, _ value: String, expiry: Int64? = nil) throws -> Cookie {
      try #require(
        Cookie(
          name: name, value: value, domain: "example.com", isHostOnly: true, path: "/", expiry: expiry))
    }
    var cookies = try (0..<200).map { try cookie("old\($0)", "1", expiry: 1) }
    cookies += [try cookie("a", "1"), try cookie("b", "2"), try cookie("a", "3"), try cookie("c", "4")]
    cookies.append(try cookie("c", "", expiry: 1))
    #expect(try jar(cookies).all.map(\.value) == ["3", "2"])
  }

  @Test("§6.1: the numbers are bounded, of one domain and in all, and so is the field")
  func limits() throws {
    let jar = try jar()
    for number in 0..<400 { try set(jar, "n\(number)=\(String(repeating: "v", count: 100))") }
    #expect(jar.all.count == 150)
    #expect(jar.all.first?.name == "n250")
    #expect(try #require(try sent(jar)).utf8.count <= 8_190)
    for number in 0..<3_100 { try set(jar, "a=1", from: "https://h\(number).example.org/") }
    #expect(jar.all.count == 3_000)
  }

  @Test("a file is read as it was written")
  func roundTrip() throws {
    let jar = try jar()
    try set(
      jar, "a=1; Path=/x; Secure; HttpOnly", "b=; Domain=example.com; Max-Age=100", "c=ü \"x\"",
      from: "https://www.example.com/p/q")
    let text = String(decoding: CookieFile.bytes(of: CookieFile.Content(cookies: jar.all)), as: UTF8.self)
    #expect(text.hasPrefix("# Netscape HTTP Cookie File\n"))
    #expect(text.contains("#HttpOnly_www.example.com\tFALSE\t/x\tTRUE\t0\ta\t1\n"))
    #expect(text.contains("\n.example.com\tTRUE\t/p\tFALSE\t\(clock.now.seconds + 100)\tb\t\n"))
    #expect(
      try CookieFile.content(of: Data(text.utf8), suffixes: CookieTests.suffixes)
        == CookieFile.Content(cookies: jar.all))
  }

  @Test(
    "lines of a hostile file are skipped",
    arguments: [
      "example.com", "example.com\tTRUE\t/\tFALSE", "\tTRUE\t/\tFALSE\t0\ta\t1",
      "com\tTRUE\t/\tFALSE\t0\ta\t1", "co.uk\tTRUE\t/\tFALSE\t0\ta\t1",
      "com.\tTRUE\t/\tFALSE\t0\ta\t1", "example.com.\tTRUE\t/\tFALSE\t0\ta\t1",
      "example.com\tTRUE\tx\tFALSE\t0\ta\t1",
      "example.com\tTRUE\t/\tFALSE\t-1\ta\t1", "example.com\tTRUE\t/\tFALSE\tx\ta\t1",
      "example.com\tTRUE\t/\tFALSE\t1893456000.\ta\t1", "example.com\tTRUE\t/\tFALSE\t.5\ta\t1",
      "example.com\tTRUE\t/\tFALSE\t1893456000.1.2\ta\t1", "example.com\tTRUE\t/\tFALSE\t1.5e9\ta\t1",
      "example.com\tTRUE\t/\tFALSE\t0\t\t1", "example.com\tTRUE\t/\tFALSE\t0\ta;b\t1",
      "example.com\tTRUE\t/\tFALSE\t0\ta\t1; c=2", "example.com\tTRUE\t/\tFALSE\t0\ta\t1\u{0}",
      "example.com\tTRUE\t/\tFALSE\t0\ta\t1\t2", "# example.com\tTRUE\t/\tFALSE\t0\ta\t1",
      "Set-Cookie: a=1",
    ])
  func hostile(_ line: String) throws {
    let text = "\(line)\r\nexample.org\tFALSE\t/\tFALSE\t99999999999999999999\tok\t1\r\n"
    let content = try CookieFile.content(of: Data(text.utf8), suffixes: CookieTests.suffixes)
    let found = content.cookies
    #expect(found.map(\.name) == ["ok"])
    #expect(found.first?.expiry == .max)
    #expect(content.otherLines == [Data(line.utf8)])
    #expect(content.malformedCount == (line.hasPrefix("# ") ? 0 : 1))
  }

  @Test(
    "an expiry with a fraction of a second, as browser extensions write it, counts in whole seconds",
    arguments: [("1893456000.123", 1_893_456_000), ("1893456000.9", 1_893_456_000), ("0.0", nil)]
      as [(String, Int64?)])
  func fraction(_ text: String, _ expiry: Int64?) throws {
    let line = "example.com\tFALSE\t/\tFALSE\t\(text)\ta\t1\n"
    let content = try CookieFile.content(of: Data(line.utf8), suffixes: CookieTests.suffixes)
    #expect(content.cookies.map(\.expiry) == [expiry])
    #expect(content.malformedCount == 0)
    let jar = try jar(content.cookies)
    #expect(try sent(jar) == "a=1")
  }

  @Test("bytes that are no UTF-8 are no cookie")
  func octets() throws {
    let content = try CookieFile.content(of: Data([0x61, 0xFF, 0x0A, 0xFE, 0x09]))
    #expect(content.cookies.isEmpty)
    #expect(content.otherLines == [Data([0x61, 0xFF]), Data([0xFE, 0x09])])
  }
}
