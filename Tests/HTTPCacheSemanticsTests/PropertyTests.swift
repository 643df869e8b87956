import HTTPCacheFuzzing
import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct PropertyTests {
  private static let names = [
    "Cache-Control", "Age", "Date", "Expires", "Last-Modified", "ETag", "Vary", "Pragma",
    "CDN-Cache-Control", "Connection", "If-None-Match", "If-Modified-Since", "Range", "If-Range",
    "Accept-Encoding", "Accept-Language", "Accept", "Cookie", "Location", "Content-Location",
    "Cache-Status", "Content-Length", "Content-Encoding",
  ]

  private static let directives: [String] =
    RequestDirective.allCases.map { "\($0.name)" } + ResponseDirective.allCases.map { "\($0.name)" }

  private static let pieces: [String] =
    directives + [
      "=", ",", ", ", "\"", "\\", ";", "q=0.5", "q=1.000", ";q=", "*", "W/", "W/\"", "\"abc\"", "0", "1",
      "3600", "-1", "9223372036854775808", "99999999999",
      "1.5", " ", "\t", "bytes=", "0-", "-5", "1-2", "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Fri, 06 Nov 2020 11:00:00 GMT",
      "gzip", "br", "en", "DE", "Foo", "foo", "http://example.com/", "/../a", "%7e", "?", "#", "//", "@",
      ":80", "[::1]", "(", ")", "ü", "\u{80}", "hit", "fwd=miss", "ttl=5",
    ]

  static func octets(_ random: inout Seeded) -> [UInt8] {
    var octets: [UInt8] = []
    for _ in 0..<Int.random(in: 0...8, using: &random) {
      if Int.random(in: 0..<10, using: &random) == 0 {
        octets.append(UInt8.random(in: .min ... .max, using: &random))
      } else {
        octets += Array(pieces.randomElement(using: &random, orElse: "").utf8)
      }
    }
    return octets
  }

  static func fields(_ random: inout Seeded) throws -> HTTPFields {
    var fields = HTTPFields()
    for _ in 0..<Int.random(in: 0...10, using: &random) {
      let name = try #require(HTTPField.Name(names.randomElement(using: &random, orElse: "A")))
      fields.append(HTTPField(name: name, lenientValue: octets(&random)))
    }
    return fields
  }

  static func time(_ random: inout Seeded) -> Timestamp {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: Timestamp(seconds: .max)
    case 1: Timestamp(seconds: .min)
    case 2: Timestamp(seconds: Int64.random(in: .min ... .max, using: &random))
    default: today.adding(Int64.random(in: -10_000...10_000, using: &random))
    }
  }

  @Test("§4.3.4 Whatever tags and dates are stored, a 304 updates only what the request matches")
  func confirmations() throws {
    var random = Seeded(seed: 434)
    let tags = ["\"1\"", "\"2\"", "W/\"1\"", "W/\"2\"", "broken"]
    let dates = ["Fri, 06 Nov 2020 10:00:00 GMT", "Fri, 06 Nov 2020 11:00:00 GMT"]
    var (updates, reuses) = (0, 0)
    for _ in 0..<4_000 {
      func head(_ status: Int) throws -> HTTPResponse {
        var head = try response(status, status == 200 ? ["Vary": "Foo"] : [:])
        let tag = tags.randomElement(using: &random, orElse: "")
        if Bool.random(using: &random) { head.headerFields[.eTag] = tag }
        let date = dates.randomElement(using: &random, orElse: "")
        if Bool.random(using: &random) { head.headerFields[.lastModified] = date }
        if status == 200, Bool.random(using: &random) { head.headerFields[.contentEncoding] = "gzip" }
        return head
      }
      var candidates: [StoredResponse] = []
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let foo = ["a", "b"].randomElement(using: &random, orElse: "a")
        candidates.append(
          try StoredResponse.make(
            request: try get(["Foo": foo]),
            response: ReceivedResponse(try head(200), requestTime: today, responseTime: today),
            isDecoded: false, rules: privateRules, digest: reversing))
      }
      let request = try get(["Foo": "a"])
      let mismatched = Set(
        candidates.indices.filter {
          !Vary.matches(candidates[$0], request: request, rules: privateRules, digest: reversing)
        })
      let notModified = try head(304)
      switch Freshening.decide(
        notModified: notModified, candidates: candidates, mismatched: mismatched)
      {
      case .freshen(let indices):
        updates += 1
        #expect(!indices.isEmpty && mismatched.isDisjoint(with: indices))
      case .reuse(let index):
        reuses += 1
        let tag = try #require(notModified.headerFields[.eTag])
        #expect(tag.hasPrefix("\"") && candidates[index].head.headerFields[.eTag] == tag)
      case .noMatch: break
      }
    }
    #expect(updates > 500 && reuses > 50)
  }

  @Test("§4.1 Normalising a nominated value twice is the same as once")
  func normalisingTwice() throws {
    var random = Seeded(seed: 41)
    let names = ["Accept-Encoding", "Accept-Language", "Accept", "Foo"]
    for _ in 0..<4_000 {
      let name = try #require(HTTPField.Name(names.randomElement(using: &random, orElse: "Foo")))
      let octets = Self.octets(&random).filter { $0 < 0x80 }
      func request(_ value: [UInt8]) -> HTTPRequest {
        HTTPRequest(
          method: .get, scheme: "https", authority: "a.b", path: "/",
          headerFields: HTTPFields([HTTPField(name: name, value: value)]))
      }
      func nominated(_ request: HTTPRequest) -> NominationResult {
        Vary.nominated(
          by: HTTPResponse(status: .ok, headerFields: [.vary: name.rawName]), in: request,
          rules: privateRules, digest: reversing)
      }
      let once = nominated(request(octets))
      guard case .fields(let fields) = once, case .text(let text) = fields.first?.value else {
        Issue.record("no text for \(octets)")
        continue
      }
      #expect(nominated(request(Array(text.utf8))) == once)
    }
  }

  @Test("RFC 3986 §6.2.2 The target of a key identifies what the URI identifies")
  func targets() {
    var random = Seeded(seed: 3986)
    let authorities = ["example.com", "EXAMPLE.com", "a.b:80", "a.b:443", "a.b:8080", "a.b:", "a_b"]
    let pieces = ["/", "a", ".", "..", "%7e", "%2F", "?", "#", "//", "=", "&", "~", "/.", "/..", "é"]
    for _ in 0..<4_000 {
      let authority = authorities.randomElement(using: &random, orElse: "a.b")
      var path = "/"
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        path += pieces.randomElement(using: &random, orElse: "a")
      }
      let scheme = Bool.random(using: &random) ? "http" : "https"
      let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
      let target = CacheKey.target(of: request)
      let normalized = TargetURI.normalized(scheme + "://" + authority + path)
      #expect(target == normalized)
    }
  }
}

extension Array {
  /// A random element, or another one where there is none.
  func randomElement(using random: inout Seeded, orElse other: Element) -> Element {
    randomElement(using: &random) ?? other
  }
}
