import Foundation
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// The rules of RFC 6265 §5 for one cookie.
@Suite("RFC 6265 §5: cookies", .timeLimit(.minutes(10))) struct CookieTests {
  private static let now = Timestamp(seconds: 1_800_000_000)
  static let suffixes = PublicSuffixes {
    "// list\ncom\nco.uk\n*.ck\n!www.ck\ngithub.io // people\n\u{516C}\u{53F8}.cn\n*.\u{516C}\u{53F8}.example\n"
  }

  private func cookie(_ text: String, from url: String = "https://www.example.com/docs/page?q") throws
    -> Cookie?
  {
    Cookie(setCookie: text, from: try place(url), now: Self.now, suffixes: Self.suffixes)
  }

  private func place(_ url: String) throws -> CookiePlace {
    try #require(CookiePlace(try TargetURL(parsing: url).request()))
  }

  @Test("§5.2: name and value without the space around them; attributes in any case")
  func parsing() throws {
    let cookie = try #require(try cookie(" a b = \"c=d\" ; PATH=/x; SeCure; HTTPONLY; Domain=.EXAMPLE.com"))
    #expect(cookie.name == "a b" && cookie.value == "\"c=d\"" && cookie.path == "/x")
    #expect(cookie.isSecure && cookie.isHTTPOnly && cookie.domain == "example.com" && !cookie.isHostOnly)
  }

  @Test(
    "§5.2: what is no cookie is ignored",
    arguments: [
      "", "a", "=b", "a\u{1}=b", "a=b\u{7F}", "a=b\tc", String(repeating: "a", count: 5_000) + "=b",
    ])
  func ignored(_ text: String) throws {
    #expect(try cookie(text) == nil)
  }

  @Test(
    "§5.2.1, §5.2.2: Max-Age comes before Expires; what is no number is ignored",
    arguments: [
      ("Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 1_800_000_060), ("Max-Age=0", 0),
      ("Max-Age=-5", 0), ("Max-Age=99999999999999999999", .max), ("Max-Age=1.5", nil), ("Max-Age=", nil),
      ("Max-Age=-99999999999999999999", 0),
      ("Max-Age=x; Expires=Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      ("Expires=never", nil),
    ] as [(String, Int64?)])
  func expiry(_ attributes: String, _ seconds: Int64?) throws {
    #expect(try #require(try cookie("a=b; \(attributes)")).expiry == seconds)
  }

  @Test(
    "§5.1.1: dates in the forms that origins write",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("06-nov-1994 8:49:37", 784_111_777),
      ("1994 Nov 6 08:49:37 GMT+0100", 784_111_777), ("Tue, 19 Jan 2038 03:14:07 UTC", 2_147_483_647),
      ("31 Feb 2030 00:00:00", nil), ("06 Nov 1600 08:49:37", nil), ("06 Nov 1994 24:00:00", nil),
      ("06 Nov 1994", nil), ("", nil), ("99 99 99", nil),
    ] as [(String, Int64?)])
  func dates(_ text: String, _ seconds: Int64?) {
    #expect(CookieDate.seconds(of: text) == seconds)
  }

  @Test(
    "§5.1.3, §5.3: a domain is that of the host or above it, and no public suffix",
    arguments: [
      ("example.com", "https://www.example.com/", true),
      ("www.example.com", "https://www.example.com/", true),
      ("b.example.com", "https://www.example.com/", false), ("ample.com", "https://www.example.com/", false),
      ("com", "https://www.example.com/", false), ("co.uk", "https://a.co.uk/", false),
      ("a.co.uk", "https://x.a.co.uk/", true), ("b.ck", "https://a.b.ck/", false),
      ("www.ck", "https://a.www.ck/", true), ("github.io", "https://me.github.io/", false),
      ("0.0.1", "http://127.0.0.1/", false), ("127.0.0.1", "http://127.0.0.1/", true),
      ("com.", "http://evil.com./", false), ("evil.com.", "http://www.evil.com./", false),
      ("0.1.", "http://127.0.0.1./", false), ("0.1", "http://127.0.0.1./", false),
      ("0.1", "http://127.0.1/", false), ("0x1", "http://127.0x1/", false),
      ("co.0x1", "http://a.co.0x1/", false), ("xn--55qx5d.cn", "http://a.xn--55qx5d.cn/", false),
      ("a.xn--55qx5d.cn", "http://b.a.xn--55qx5d.cn/", true),
      ("a.xn--55qx5d.example", "http://b.a.xn--55qx5d.example/", false),
      ("xn--55qx5d.example", "http://b.a.xn--55qx5d.example/", true),
    ])
  func domains(_ domain: String, _ url: String, _ isTaken: Bool) throws {
    #expect((try cookie("a=b; Domain=\(domain)", from: url) != nil) == isTaken)
  }

  @Test(
    "a final dot of a name does not hide a public suffix",
    arguments: ["com.", "co.uk.", "xn--55qx5d.cn.", "com"])
  func finalDot(_ domain: String) { #expect(Self.suffixes.contains(domain)) }

  @Test("§5.3, step 5: a public suffix that is the host itself has cookies for itself alone")
  func suffixItself() throws {
    let cookie = try #require(try cookie("a=b; Domain=github.io", from: "https://github.io/"))
    #expect(cookie.isHostOnly)
    #expect(try !cookie.isFor(place("https://me.github.io/")))
  }

  @Test(
    "§5.1.4, §5.4: which requests get a cookie of https://www.example.com/docs/page",
    arguments: [
      ("", "https://www.example.com/docs/other", true), ("", "https://www.example.com/docs", true),
      ("", "https://www.example.com/docsx", false), ("", "https://www.example.com/", false),
      ("", "https://example.com/docs/", false), ("", "https://a.www.example.com/docs/", false),
      ("", "http://www.example.com/docs/", true), ("Secure", "http://www.example.com/docs/", false),
      ("Secure", "https://www.example.com:8443/docs/", true), ("Path=/", "https://www.example.com/", true),
      ("Path=docs", "https://www.example.com/docs/x", true), ("Path=/a/", "https://www.example.com/a", false),
      ("Domain=example.com", "https://b.example.com/docs/", true),
      ("Domain=example.com", "https://badexample.com/docs/", false),
      ("", "https://WWW.EXAMPLE.COM/docs/", true),
    ])
  func matching(_ attributes: String, _ url: String, _ isSent: Bool) throws {
    let cookie = try #require(try cookie("a=b; \(attributes)"))
    #expect(try cookie.isFor(place(url)) == isSent)
  }

  @Test("http sets no cookie for https, and names with a prefix keep their promise")
  func prefixes() throws {
    #expect(try cookie("a=b; Secure", from: "http://www.example.com/") == nil)
    #expect(try cookie("__Secure-a=b") == nil)
    #expect(try cookie("__Secure-a=b; Secure") != nil)
    #expect(try cookie("__Host-a=b; Secure; Path=/") != nil)
    #expect(try cookie("__HOST-a=b; Secure; Path=/; Domain=example.com") == nil)
    #expect(try cookie("__Host-a=b; Secure; Path=/docs") == nil)
  }
}
