import HTTPCacheFuzzing
import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("Patterns for targets", .timeLimit(.minutes(10)))
struct TargetPatternTests {
  private func matches(_ pattern: TargetPattern, _ target: String) throws -> Bool {
    let parts = try #require(TargetURI.parts(of: target))
    return pattern.matches(
      HTTPRequest(
        method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path))
  }

  @Test(
    "a host is exact, or all below one, on every port or on one",
    arguments: [
      ("example.com", "https://example.com/a", true), ("EXAMPLE.com", "http://example.com:81/", true),
      ("example.com", "https://a.example.com/", false), ("example.com", "https://anexample.com/", false),
      ("example.com", "https://evil/?example.com", false),
      ("*.example.com", "https://a.b.example.com/", true), ("*.example.com", "https://example.com/", false),
      ("*.example.com", "https://evilexample.com/", false), ("*.example.com", "https://.example.com/", false),
      ("example.com:443", "https://example.com/", true), ("example.com:443", "http://example.com/", false),
      ("example.com:8080", "http://example.com:8080/", true), ("example.com:80", "http://example.com/", true),
      ("[::1]:80", "http://[::1]/", true), ("[::1]", "http://[::1]:5/", true),
    ])
  func hosts(pattern: String, target: String, isMatch: Bool) throws {
    #expect(try matches(.host(pattern), target) == isMatch)
  }

  @Test(
    "a prefix has a complete host, and is normalised",
    arguments: [
      ("https://example.com", "https://example.com/a", true),
      ("https://example.com", "https://example.com.evil/", false),
      ("HTTPS://EXAMPLE.com:443/%61", "https://example.com/abc", true),
      ("https://example.com/a", "http://example.com/a", false),
      ("https://example.com/A", "https://example.com/a", false),
    ])
  func prefixes(pattern: String, target: String, isMatch: Bool) throws {
    #expect(try matches(.prefix(pattern), target) == isMatch)
  }

  @Test(
    "a star stays within a segment, two do not",
    arguments: [
      ("/a/*", "https://h/a/b", true), ("/a/*", "https://h/a/b/c", false), ("/a/*", "https://h/a/", true),
      ("/a/**", "https://h/a/b/c", true), ("/**/*.png", "https://h/a/b/c.png", true),
      ("/**.png", "https://h/c.png", true),
      ("/**.png", "https://h/c.png?v=1", true), ("/**.png", "https://h/c.png.exe", false),
      ("/a?v=*", "https://h/a?v=1", true), ("/a?v=*", "https://h/a", false),
      ("/a?v=*", "https://h/a?v=1/2", false), ("/a*?x", "https://h/a?b?x", false),
      ("/a?**", "https://h/a?v=1/2?", true),
      ("/a", "https://h/a?v=1", true), ("/a?", "https://h/a?v=1", false), ("/A", "https://h/a", false),
      ("https://*.example.com/**", "https://a.b.example.com/x/y", true),
      ("https://*.example.com/**", "https://example.com/x", false),
      ("https://*.example.com/**", "https://evil/.example.com/x", false),
      ("HTTPS://Example.com", "https://example.com/", true), ("https://h/%7Ea", "https://h/~a", true),
      ("**", "https://h/x", true), ("*://h/a", "http://h/a", true), ("/*a*b*c", "https://h/xaybzc", true),
      ("/*a*b*c", "https://h/xaybz", false), ("/**a**b", "https://h/a/a/c/b", true),
      ("/***", "https://h/a/b", true), ("/a*b**c", "https://h/aXb/Yc", true),
      ("/a*b**c", "https://h/aX/b/Yc", false),
    ])
  func globs(pattern: String, target: String, isMatch: Bool) throws {
    #expect(try matches(.glob(pattern), target) == isMatch)
  }

  private static func a(_ count: Int) -> String { String(repeating: "a", count: count) }

  @Test(
    "two stars that are a segment match zero or more segments, as in a shell",
    arguments: [
      ("/**/private/**", "https://h/private/x", true), ("/**/private/**", "https://h/a/private/x", true),
      ("/**/private/**", "https://h/a/b/private/x/y", true),
      ("/**/private/**", "https://h/aprivate/x", false),
      ("/**/private/**", "https://h/privateer/x", false), ("/**/*.png", "https://h/c.png", true),
      ("/a/**/b", "https://h/a/b", true), ("/a/**/b", "https://h/a/x/y/b", true),
      ("/a/**/b", "https://h/ab", false), ("/a/**/b", "https://h/a/xb", false),
      ("/a/**/b/**/c", "https://h/a/b/c", true), ("/a/**/b/**/c", "https://h/a/c", false),
      ("/**/**/x", "https://h/x", true), ("/**/***/**/x", "https://h/x", true),
      ("/**/**/x", "https://h/ax", false), ("https://*.example.com/**/x", "https://a.example.com/x", true),
      ("https://example.com/**/x", "https://example.com/x", true),
      ("https://**/private/x", "https://private/x", false), ("**/private/x", "https://h/private/x", true),
      ("/**/", "https://h/", true), ("/a/**/", "https://h/a/", true), ("/a/**", "https://h/a", false),
      ("/**/x?v=1", "https://h/x?v=1", true),
      ("/\(a(61))*/**/x", "https://h/\(a(61))/x", true), ("/*\(a(61))/**/x", "https://h/\(a(61))/x", true),
      ("/*\(a(62))/**/x", "https://h/\(a(62))/x", true), ("/*\(a(60))/**/x", "https://h/\(a(60))/x", true),
      ("/*\(a(60))/**/x", "https://h/\(a(60))/yx", false),
    ])
  func deepSegments(pattern: String, target: String, isMatch: Bool) throws {
    #expect(try matches(.glob(pattern), target) == isMatch)
  }

  @Test("what never-store says of /**/private/** holds at the top of an origin")
  func deepRestriction() throws {
    let pattern = try TargetPattern.glob("/**/private/**")
    let request = HTTPRequest(method: .get, scheme: "https", authority: "h", path: "/Private;x/y")
    #expect(pattern.mayMatch(request))
  }

  @Test("a glob agrees with one that tries everything")
  func globsAgree() throws {
    var whole: [Character] = []
    func simple(_ form: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
      guard let first = form.first else { return text.isEmpty }
      if first == "/", text.first == "/", case let stars = form.dropFirst().prefix(while: { $0 == "*" }),
        stars.count > 1, form.dropFirst(1 + stars.count).first == "/",
        form.startIndex == 0 || whole[form.startIndex - 1] != "/",
        simple(form.dropFirst(1 + stars.count), text)
      {
        return true
      }
      if first == "*" {
        let isDouble = form.dropFirst().first == "*"
        let rest = form.drop { $0 == "*" }
        var tail = text
        while true {
          if simple(rest, tail) { return true }
          guard let next = tail.popFirst(), isDouble || (next != "/" && next != "?") else { return false }
        }
      }
      return text.first == first && simple(form.dropFirst(), text.dropFirst())
    }
    var random = Seeded(seed: 1)
    var matched = 0
    for _ in 0..<4_000 {
      let form =
        "/"
        + String(
          (0..<Int.random(in: 0...7, using: &random)).map { _ in
            "ab/**".randomElement(using: &random) ?? "a"
          })
      let path =
        "/"
        + String(
          (0..<Int.random(in: 0...9, using: &random)).map { _ in
            "ab/".randomElement(using: &random) ?? "a"
          })
      whole = Array(form)
      let expected = simple(whole[...], Array(path)[...])
      if expected { matched += 1 }
      let request = HTTPRequest(method: .get, scheme: "https", authority: "h", path: path)
      #expect(try TargetPattern.glob(form).matches(request) == expected, "\(form) \(path)")
    }
    #expect(matched > 400)
  }

  @Test("a form longer than a word of places, and a long target that almost fits")
  func longGlobs() throws {
    let form = "/" + String(repeating: "ab*", count: 60) + "**z"
    let path = "/" + String(repeating: "ab", count: 4_000)
    #expect(try matches(.glob(form), "https://h" + path + "/z"))
    #expect(try !matches(.glob(form), "https://h" + path))
    #expect(try !matches(.glob("/**a*c"), "https://h/" + String(repeating: "a", count: 60_000)))
  }

  @Test("an expression is found anywhere, with its letter case")
  func expressions() throws {
    #expect(try matches(.expression(#"/img/\d+\.png$"#), "https://h/img/12.png"))
    #expect(try !matches(.expression(#"/img/\d+\.png$"#), "https://h/img/12.PNG"))
    #expect(try matches(.expression(#"(?i)\.png$"#), "https://h/img/12.PNG"))
    #expect(try !matches(.expression("^/img"), "https://h/img"))
  }

  @Test("a predicate sees the request, and is equal by its name")
  func predicates() throws {
    let posts = TargetPattern.matching("posts") { $0.method == .post }
    #expect(posts.matches(try get(method: .post)))
    #expect(!posts.matches(try get()))
    #expect(posts == .matching("posts") { _ in false })
    #expect(posts != .matching("others") { $0.method == .post })
  }

  @Test("what is no pattern is told at once, with its text")
  func errors() throws {
    for host in ["", "*.", "a/b", "a b", "user@a", "a.*", "*", "a:b", "a:99999"] {
      #expect(throws: TargetPatternError.self, "\(host)") { try TargetPattern.host(host) }
    }
    for prefix in ["", "/a", "ftp://a/", "https://", "example.com/a"] {
      #expect(throws: TargetPatternError.self, "\(prefix)") { try TargetPattern.prefix(prefix) }
    }
    for glob in ["", "a", "ftp://a/*", "/a b", "/a#b", String(repeating: "/", count: 1_025)] {
      #expect(throws: TargetPatternError.self, "\(glob)") { try TargetPattern.glob(glob) }
    }
    #expect(throws: TargetPatternError.self) { try TargetPattern.expression("(") }
    let error = #expect(throws: TargetPatternError.self) { try TargetPattern.glob("a") }
    #expect(error?.description.contains("'a' is no pattern") == true)
  }

  @Test("a request without a target is none")
  func noTarget() throws {
    let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
    #expect(!TargetPattern.any.matches(request))
  }
}
