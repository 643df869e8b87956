import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("A HAR file as seeds", .timeLimit(.minutes(10)))
struct HARSeedTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func seed(_ entries: String...) throws -> RecordingSeed {
    try seed(
      text:
        #"{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"pages":[{"id":"[{\""}],"entries":["#
        + entries.joined(separator: ",") + #"]}}"#)
  }

  private func seed(text: String) throws -> RecordingSeed {
    try RecordingSeed(path: try folder.write("a.har", text).path)
  }

  private func entry(
    _ url: String = "https://example.com/a", method: String = "GET", status: Int = 200, request: String = "",
    fields: String = #"{"name":"Content-Type","value":"text/plain"}"#,
    content: String = #"{"size":4,"mimeType":"text/plain","text":"text"}"#,
    rest: String =
      #""startedDateTime":"2020-09-13T12:26:40.500Z","time":1500,"timings":{"blocked":-1,"send":0,"wait":1500,"receive":9}"#
  ) -> String {
    """
    {\(rest),"request":{"method":"\(method)","url":"\(url)","headers":[\(request)]},
    "response":{"status":\(status),"statusText":"","headers":[\(fields)],"content":\(content)},"_resourceType":"document"}
    """
  }

  @Test("keeps status, fields, times and text")
  func text() async throws {
    let seed = try seed(
      entry(fields: #"{"name":"ETag","value":"\"1\""},{"name":"Set-Cookie","value":"a=b"}"#))
    let found = try #require(try seed.responses(to: "https://example.com/a").first)
    #expect(try await found.text() == "text" && found.response.head.status == .ok)
    #expect(found.response.head.headerFields[.eTag] == "\"1\"")
    #expect(found.response.head.headerFields[.contentType] == "text/plain")
    #expect(found.response.head.headerFields[.setCookie] == nil)
    #expect(found.response.requestTime.seconds == 1_600_000_000)
    #expect(found.response.responseTime.seconds == 1_600_000_002 && seed.newest.seconds == 1_600_000_002)
  }

  @Test(
    "a body in Base64, with line breaks and without padding", arguments: ["AAH/", "AA H\\r\\n/", "AAH\\/"])
  func base64(_ text: String) async throws {
    let seed = try seed(entry(content: #"{"size":3,"encoding":"base64","text":"\#(text)"}"#))
    let found = try #require(try seed.responses(from: 0, limit: 2).first)
    #expect(try await found.body.open().read(0..<3).array == [0, 1, 255] && found.bodyLength == 3)
    let short = try self.seed(entry(content: #"{"encoding":"base64","text":"AAE"}"#))
    #expect(try short.responses(from: 0, limit: 2).first?.bodyLength == 2)
  }

  @Test("long bodies stay out of memory, and escapes are decoded across pieces")
  func long() async throws {
    let unit = "0123456789\\n\\u00e9\\ud83d\\ude00\\/\\\"\u{e9}"
    let decoded = "0123456789\n\u{e9}\u{1F600}/\"\u{e9}"
    let seed = try seed(
      entry(content: #"{"mimeType":"text/plain","text":"\#(String(repeating: unit, count: 20_000))"}"#),
      entry(
        "https://example.com/b",
        content: #"{"text":"\#(String(repeating: "AAAA", count: 50_000))","encoding":"base64"}"#))
    #expect(try await seed.text("https://example.com/a") == String(repeating: decoded, count: 20_000))
    #expect(try seed.responses(to: "https://example.com/b").first?.bodyLength == 150_000)
    let type = try seed.responses(to: "https://example.com/a").first?.response.head.headerFields[.contentType]
    #expect(type == "text/plain; charset=utf-8")
  }

  @Test("text that was converted to UTF-8 has UTF-8 in its type")
  func charset() async throws {
    let latin = #"{"name":"Content-Type","value":"text/html; charset=ISO-8859-1; a=b"}"#
    let seed = try seed(entry(fields: latin, content: #"{"size":1,"text":"\u00e9"}"#))
    let found = try #require(try seed.responses(from: 0, limit: 1).first)
    #expect(found.response.head.headerFields[.contentType] == "text/html; a=b; charset=utf-8")
    #expect(try await found.text() == "é")
  }

  @Test("a decoded body has no content coding")
  func coding() throws {
    let gzip = #"{"name":"Content-Encoding","value":"gzip"},{"name":"Content-Length","value":"99"}"#
    let found = try #require(try seed(entry(fields: gzip)).responses(from: 0, limit: 1).first)
    #expect(found.response.head.headerFields[.contentEncoding] == nil && found.response.isDecoded)
  }

  @Test("Vary selects by the request's fields; secrets are left out")
  func vary() throws {
    let vary = #"{"name":"vary","value":"Accept-Language"}"#
    let seed = try seed(
      entry(request: #"{"name":"accept-language","value":"de"},{"name":":path","value":"/a"}"#, fields: vary),
      entry(request: #"{"name":"accept-language","value":"en"}"#, fields: vary),
      entry(
        "https://example.com/b", request: #"{"name":"cookie","value":"a=b"}"#,
        fields: #"{"name":"Vary","value":"Cookie"}"#),
      entry("https://example.com/c", request: #"{"name":"Authorization","value":"Basic YTpi"}"#))
    #expect(try seed.responses(to: "https://example.com/a").count == 2 && seed.count == 2)
    #expect(seed.notes.count == 2)
  }

  @Test("of several responses for a URL, the last counts")
  func last() async throws {
    let seed = try seed(
      entry(), entry(content: #"{"text":"later"}"#), entry(status: 304, content: #"{"size":0,"text":""}"#))
    #expect(seed.count == 1)
    #expect(try await seed.text("https://example.com/a") == "later")
  }

  @Test(
    "without times, it is the oldest response",
    arguments: [#""time":1"#, #""startedDateTime":"yesterday""#, #""startedDateTime":"","timings":null"#])
  func times(_ rest: String) throws {
    #expect(
      try seed(entry(rest: rest)).responses(from: 0, limit: 1).first?.response.responseTime.seconds == 0)
  }

  @Test(
    "an entry that cannot be a seed is left out with a note, and the others are used",
    arguments: [
      #"{"request":{},"response":{}}"#, "[1,2]", "7", #""text""#, "null",
    ])
  func unusable(_ text: String) throws {
    let seed = try seed(text, entry())
    #expect(seed.count == 1 && seed.notes.count == 1 && seed.notes[0].hasPrefix("entry 1: "))
  }

  @Test("a response that is not complete, not to GET, or without a body is left out")
  func leftOut() throws {
    let seed = try seed(
      entry(method: "POST"), entry(status: 206), entry(status: 0), entry("chrome-extension://a/b"),
      entry("data:,a"),
      entry(content: #"{"size":5}"#), entry(content: #"{"size":9,"text":"short"}"#),
      entry(content: #"{"size":9,"text":"AAAA","encoding":"base64"}"#),
      entry(content: #"{"text":"no Base64!","encoding":"base64"}"#),
      entry("https://example.com/b", status: 301, fields: #"{"name":"Location","value":"/a"}"#, content: "{}")
    )
    #expect(seed.notes.count == 9 && seed.count == 1)
    #expect(try seed.responses(to: "https://example.com/b").first?.response.head.status.code == 301)
  }

  @Test(
    "a file that is not HAR is refused",
    arguments: [
      "{", "{}", "[]", #"{"log":{}}"#, #"{"log":{"entries":{}}}"#, #"{"log":[]}"#, "{\"log",
      #"{"a":1 "log":2}"#, #"{"log":{"entries":[{"a":[}]}}"#,
    ])
  func notHAR(_ text: String) throws {
    #expect(throws: CacheError.self) { try seed(text: text) }
  }

  @Test("cut at any place within its entries, it is refused")
  func cut() throws {
    let whole = #"{"log":{"entries":["# + entry() + "]}}"
    for length in 1..<whole.utf8.count - 2 {
      #expect(throws: CacheError.self, "\(length)") { try seed(text: String(whole.prefix(length))) }
    }
  }

  @Test("what comes after the entries, and a byte order mark, do not matter")
  func rest() throws {
    let text = "\u{FEFF} {\"_x\": [{}, \"]\"], \"log\": {\"entries\": [\(entry())], \"comment\": \"\"}}"
    #expect(try seed(text: text).count == 1)
  }

  @Test("entries as Chromium, Firefox and Safari write them")
  func browsers() async throws {
    let chromium = #"""
      {"_connectionId":"12","_initiator":{"type":"parser","url":"https://example.com/","lineNumber":3},"_priority":"High",
      "_resourceType":"stylesheet","cache":{},"connection":"443","pageref":"page_1","request":{"method":"GET",
      "url":"https://example.com/chromium","httpVersion":"http/2.0","headers":[{"name":":authority","value":"example.com"},
      {"name":"accept","value":"text/css"}],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},
      "response":{"status":200,"statusText":"","httpVersion":"http/2.0","headers":[{"name":"content-type","value":"text/css"},
      {"name":"set-cookie","value":"a=1\nb=2"},{"name":"x-list","value":"1\n2"}],"cookies":[],
      "content":{"size":4,"mimeType":"text/css","text":"a {}"},"redirectURL":"","headersSize":-1,"bodySize":-1,
      "_transferSize":90,"_error":null},"serverIPAddress":"[::1]","startedDateTime":"2026-01-01T00:00:00.123Z",
      "time":12.3,"timings":{"blocked":1.5,"dns":-1,"ssl":-1,"connect":-1,"send":0.1,"wait":10,"receive":0.7,"_blocked_queueing":1}}
      """#
    let firefox = #"""
      {"startedDateTime":"2026-01-01T01:00:00.123+01:00","request":{"bodySize":0,"method":"GET",
      "url":"https://example.com/firefox","httpVersion":"HTTP/2","headers":[{"name":"Host","value":"example.com"}],
      "cookies":[],"queryString":[],"headersSize":300},"response":{"status":200,"statusText":"","httpVersion":"HTTP/2",
      "headers":[{"name":"content-type","value":"image/png"}],"cookies":[],"content":{"mimeType":"image/png","size":3,
      "encoding":"base64","text":"AAEC"},"redirectURL":"","headersSize":200,"bodySize":203},"cache":{"afterRequest":null},
      "timings":{"blocked":0,"dns":0,"connect":0,"ssl":0,"send":0,"wait":9,"receive":0},"time":9,
      "_securityState":"secure","serverIPAddress":"127.0.0.1","connection":"443","pageref":"page_1"}
      """#
    let safari = #"""
      {"pageref":"page_0","startedDateTime":"2026-01-01T00:00:00.123Z","time":8.9,"request":{"method":"GET",
      "url":"https://example.com/safari","httpVersion":"HTTP/2","cookies":[],"headers":[],"queryString":[],"headersSize":90,
      "bodySize":0},"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/2","cookies":[],
      "headers":[{"name":"Content-Type","value":"application/json"}],"content":{"size":6,"compression":0,
      "mimeType":"application/json","text":"{\"é\"}"},"redirectURL":"","headersSize":80,"bodySize":6,"_transferSize":86},
      "cache":{},"timings":{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":0,"wait":8.1,"receive":0.8},
      "serverIPAddress":"127.0.0.1","_serverPort":443,"connection":"1","_fetchType":"Network Load","_priority":"medium"}
      """#
    let aborted = #"""
      {"startedDateTime":"2026-01-01T00:00:00Z","time":0,"_resourceType":"image","request":{"method":"GET",
      "url":"https://example.com/aborted","headers":[]},"response":{"status":0,"statusText":"","headers":[],
      "content":{"size":0,"mimeType":"x-unknown"},"redirectURL":"","_error":"net::ERR_ABORTED"},"timings":{}}
      """#
    let seed = try seed(chromium, firefox, safari, aborted)
    #expect(seed.count == 3 && seed.notes.count == 1)
    for name in ["chromium", "firefox", "safari"] {
      let found = try #require(try seed.responses(to: "https://example.com/\(name)").first, "\(name)")
      #expect(found.response.requestTime.seconds == 1_767_225_600, "\(name)")
    }
    #expect(try await seed.text("https://example.com/safari") == "{\"é\"}")
    let styles = try #require(try seed.responses(to: "https://example.com/chromium").first)
    #expect(styles.response.head.headerFields[values: HTTPField.Name("x-list")!] == ["1", "2"])
    #expect(styles.response.head.headerFields[.setCookie] == nil)
  }

  @Test("a body that looks like the stand-in of another one reads nothing else")
  func standIn() async throws {
    let seed = try seed(entry(content: #"{"text":"\u0001long string 0"}"#))
    #expect(try await seed.text("https://example.com/a") == "\u{1}long string 0")
  }
}
