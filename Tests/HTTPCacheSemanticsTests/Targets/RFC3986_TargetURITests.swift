import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RFC3986_TargetURITests {
  @Test("RFC 9110 §4.2.3 Equivalent URIs become equal")
  func equivalent() {
    for uri in [
      "http://example.com:80/~smith/home.html", "http://EXAMPLE.com/%7Esmith/home.html",
      "http://EXAMPLE.com:/%7esmith/home.html", "HTTP://u:p@example.com/~smith/home.html#x",
    ] {
      #expect(TargetURI.normalized(uri) == "http://example.com/~smith/home.html")
    }
  }

  @Test(
    "RFC 3986 §6.2.2 What normalising changes, and what it leaves alone",
    arguments: [
      ("https://a.b", "https://a.b/"), ("https://a.b?", "https://a.b/?"),
      ("https://a.b/?", "https://a.b/?"), ("https://a.b?x", "https://a.b/?x"),
      ("https://a.b:443/", "https://a.b/"), ("https://a.b:80/", "https://a.b:80/"),
      ("https://a.b:0443/", "https://a.b/"), ("http://a.b:8080", "http://a.b:8080/"),
      ("https://a.b/%c3%bc%2f%41", "https://a.b/%C3%BC%2FA"), ("https://a.b/ü", "https://a.b/%C3%BC"),
      ("https://a.b/%zz%4", "https://a.b/%zz%4"),
      // Decoded, these would become triplets that were not there.
      ("https://a.b/%e%41", "https://a.b/%e%41"), ("https://a.b/%%41B%41", "https://a.b/%%41BA"),
      ("https://a.b/a//b/", "https://a.b/a//b/"),
      ("https://a.b/../..", "https://a.b/../.."), ("https://a.b/a/%2e%2e/b", "https://a.b/a/../b"),
      ("https://a.b/a/..", "https://a.b/a/.."), ("https://a.b/a/.", "https://a.b/a/."),
      ("https://a.b/?b=2&a=1/../x", "https://a.b/?b=2&a=1/../x"),
      ("https://[2001:DB8::1]:443/", "https://[2001:db8::1]/"), ("https://%41.b/", "https://%41.b/"),
      ("https://[FE80::A%25Eth0]:443/", "https://[fe80::a%25Eth0]/"),
      ("https://a.b/;p=1?q?r", "https://a.b/;p=1?q?r"), ("https://a.b/.hidden", "https://a.b/.hidden"),
    ])
  func normal(uri: String, expected: String) {
    #expect(TargetURI.normalized(uri) == expected)
    #expect(TargetURI.normalized(expected) == expected)
  }

  @Test(
    "RFC 3986 §3 What is no http URI is refused",
    arguments: [
      "", "/", "a.b", "ftp://a.b/", "http:/a.b", "http://", "http:///x", "http://@/", "http://:80/",
      "http://a b/", "http://a.b/x y", "http://a.b/\u{7F}", "http://a.b/\u{1}", "http://a.b:x/",
      "http://a.b:65536/", "http://a.b\\@c.d/", "http://a@b@c/", "http://[::1/", "http://[]/",
      "http://[fe80::1%25]/", "http://[fe80::1%eth0]/", "http://[%25a]/", "http://[fe80::1%25a%20]/",
      "http://a%zz/", "http://a.b:80:80/", "mailto:a@b.c", "1http://a.b/",
      "http://a.b/" + String(repeating: "x", count: 65_536),
    ])
  func refused(uri: String) {
    #expect(TargetURI.normalized(uri) == nil)
  }

  @Test(
    "RFC 3986 §5.4 The examples of reference resolution",
    arguments: [
      ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
      ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"),
      ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"),
      ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
      ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
      ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
      ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
      ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
      ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
      ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
      ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
      ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
      ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
  func resolved(reference: String, expected: String) {
    #expect(TargetURI.resolved(reference, against: "http://a/b/c/d;p?q") == expected)
  }

  @Test("RFC 3986 §5.2 A base without path, an absolute reference, and what is refused")
  func resolvedOther() {
    #expect(TargetURI.resolved("g", against: "http://a") == "http://a/g")
    #expect(TargetURI.resolved("https://X/y", against: "http://a") == "https://x/y")
    #expect(TargetURI.resolved("mailto:x", against: "http://a") == nil)
    #expect(TargetURI.resolved("g:h", against: "http://a") == nil)
    #expect(TargetURI.resolved("x y", against: "http://a") == nil)
    #expect(TargetURI.resolved("x", against: "a/b") == nil)
  }

  @Test("RFC 9110 §4.3.1 The origin is scheme, host and port that is not the default")
  func origin() {
    #expect(TargetURI.origin(of: "HTTPS://Example.com:443/a?b") == "https://example.com")
    #expect(TargetURI.origin(of: "http://example.com:81") == "http://example.com:81")
    #expect(TargetURI.origin(of: "example.com") == nil)
  }

  // holds 9111-4-1
  @Test("RFC 9111 §2 The key of a request is its normalised target, mode and partition")
  func key() throws {
    func key(
      _ authority: String?, _ path: String?, scheme: String? = "https",
      method: HTTPRequest.Method = .get, mode: CacheMode = .private, partition: String = ""
    ) -> CacheKey? {
      CacheKey(
        request: HTTPRequest(method: method, scheme: scheme, authority: authority, path: path),
        rules: CacheRules(mode: mode), partition: partition)
    }
    let plain = try #require(key("example.com", "/a?b"))
    #expect(plain.target == "https://example.com/a?b")
    #expect(plain == key("EXAMPLE.com:443", "/%61?b#f"))
    #expect(plain == key("example.com", "/a?b", method: .head))
    #expect(plain == key("example.com", "/a?b", method: .put))
    #expect(plain != key("example.com", "/a?b", method: .query))
    #expect(plain != key("example.com", "/a?b", mode: .shared))
    #expect(plain != key("example.com", "/a?b", partition: "p"))
    #expect(plain != key("example.com", "/a?b", scheme: nil))
    #expect(key("example.com", "", scheme: nil)?.target == "http://example.com/")
    #expect(key("example.com", "*")?.target == "https://example.com/")
    #expect(key("example.com", "x") == nil)
    #expect(key("example.com", nil) == nil)
    #expect(key(nil, "/") == nil)
    #expect(key("", "/") == nil)
    #expect(key("example.com", "/a b") == nil)
  }

  @Test("RFC 3986 §3.2 What ends an authority is in none", arguments: ["/", "?", "#", "\\"])
  func endOfAuthority(mark: String) {
    for authority in ["example.com/b\(mark)", "example.com\(mark)", "example.com\(mark)b"] {
      let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/a")
      #expect(CacheKey(request: request, rules: CacheRules(mode: .shared)) == nil)
    }
    let request = HTTPRequest(
      method: .get, scheme: "https://example.com/b\(mark)", authority: "example.com", path: "/a")
    #expect(CacheKey(request: request, rules: CacheRules(mode: .shared)) == nil)
  }

  @Test(
    "a host that is encoded has another key: it is asked as it is written, and may be another one",
    arguments: [
      ("%77ww.example.com", "%77ww.example.com"), ("www%2eexample.com", "www%2Eexample.com"),
      ("WWW.example%2Ecom:8080", "www.example%2Ecom:8080"), ("%C3%A9.example", "%C3%A9.example"),
    ])
  func encodedHost(_ authority: String, _ host: String) {
    let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/a")
    #expect(CacheKey.target(of: request) == "http://\(host)/a")
  }

  @Test(
    "RFC 3986 §2.1 Encoded octets are decoded once, and to UTF-8",
    arguments: [
      ("a%2Fb%2fb", "a/b/b", "a/b/b"), ("%c3%A9é", "éé", "éé"), ("%2541", "%41", "%41"), ("", "", ""),
      ("%00", "\0", "\0"),
      ("100%", nil, "100%"), ("%4", nil, "%4"), ("%+5", nil, "%+5"), ("%-1x", nil, "%-1x"),
      ("%%41", nil, "%A"),
      ("%zz", nil, "%zz"), ("%E9", nil, nil), ("%C0%AF", nil, nil), ("%ED%A0%80", nil, nil),
    ] as [(String, String?, String?)])
  func decoded(text: String, strictly: String?, leniently: String?) {
    #expect(TargetURI.percentDecoded(text) == strictly)
    #expect(TargetURI.percentDecoded(text, keepsOthers: true) == leniently)
  }

  @Test("A key keeps dot segments: the origin gets them, and may answer them differently")
  func keysKeepDotSegments() throws {
    func key(_ path: String) throws -> CacheKey {
      try #require(
        CacheKey(
          request: HTTPRequest(method: .get, scheme: "https", authority: "a.b", path: path),
          rules: CacheRules(mode: .shared)))
    }
    #expect(try key("/x/../admin") != key("/admin"))
    #expect(try key("/x/%2e%2e/admin") == key("/x/../admin"))
    #expect(try key("/x/../admin").target == "https://a.b/x/../admin")
  }
}
