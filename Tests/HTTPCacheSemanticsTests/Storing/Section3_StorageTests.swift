import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section3_StorageTests {
  @Test("§3 A response with an explicit lifetime is stored, whatever its final status")
  func explicitLifetime() throws {
    for status in [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 599] {
      #expect(try storing(status, ["Cache-Control": "max-age=60"]) == .store)
      #expect(try storing(status, ["Expires": "Fri, 06 Nov 2020 13:00:00 GMT"]) == .store)
    }
  }

  // holds 9111-3-7, 9111-5.2.2.9-1
  @Test("§3 Without explicit lifetime only heuristically cacheable statuses are stored")
  func heuristicStatuses() throws {
    let modified: KeyValuePairs = ["Last-Modified": "Thu, 05 Nov 2020 12:00:00 GMT"]
    for status in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
      #expect(try storing(status, modified) == .store)
    }
    for status in [201, 202, 302, 403, 502, 503, 504, 599] {
      #expect(try storing(status, modified) == .doNotStore(.notCacheable(status: status)))
    }
    #expect(
      try storing(599, ["Last-Modified": "Thu, 05 Nov 2020 12:00:00 GMT", "Cache-Control": "public"])
        == .store)
  }

  // holds 9111-3-2, 9111-3-3
  @Test("§3 Interim responses, partial content and answers to conditions are not stored")
  func neverStored() throws {
    #expect(try storing(103, ["Cache-Control": "max-age=60"]) == .doNotStore(.interim))
    #expect(
      try storing(206, ["Cache-Control": "max-age=60"])
        == .doNotStore(.malformed("Content-Range")))
    for status in [304, 412, 416, 428, 429, 431, 511] {
      #expect(
        try storing(status, ["Cache-Control": "max-age=60"])
          == .doNotStore(.statusNotStored(status)))
    }
  }

  @Test(
    "RFC 9110 §4.2.3 A redirect between two spellings of one key is not stored: it would answer the next request too",
    arguments: [
      ("/%7eu", "/~u", false), ("/~u", "http://example.com/%7Eu#f", false), ("/%7Eu/", "../%7eu/", false),
      ("/a?%61", "?a", false), ("/%7eu", "/%7eu", true), ("/%7eu", "/v", true), ("/%7eu", "//h/~u", true),
    ])
  func redirectToItself(_ path: String, _ location: String, _ isStored: Bool) throws {
    let request = HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: path)
    for status in [301, 302, 303, 307, 308] {
      let decision = try storing(
        status, ["Cache-Control": "max-age=60", "Location": location], to: request)
      #expect(decision == (isStored ? .store : .doNotStore(.redirectToItself)), "\(status)")
    }
    #expect(try storing(201, ["Cache-Control": "max-age=60", "Location": location], to: request) == .store)
  }

  // holds 9111-3-4, 9111-5.2.2.5-1
  @Test("§5.2.2.5 no-store is obeyed in any letter case and next to any lifetime")
  func noStore() throws {
    #expect(try storing(200, ["Cache-Control": "No-StOrE"]) == .doNotStore(.responseNoStore))
    #expect(
      try storing(200, ["Cache-Control": "max-age=60, no-store"]) == .doNotStore(.responseNoStore))
    #expect(
      try storing(200, ["Cache-Control": "max-age=60", "cache-control": "no-store"])
        == .doNotStore(.responseNoStore))
    #expect(
      try storing(200, ["Cache-Control": "no-store=\"x\""]) == .doNotStore(.responseNoStore))
  }

  // holds 9111-5.2.1.5-1
  @Test("§5.2.1.5 no-store in the request is obeyed")
  func requestNoStore() throws {
    #expect(
      try storing(
        200, ["Cache-Control": "max-age=60"], to: get(["Cache-Control": "no-store"]))
        == .doNotStore(.requestNoStore))
  }

  // holds 9111-3-3, 9111-5.2.2.3-1
  @Test("§5.2.2.3 must-understand lifts no-store for a status that is understood, and only then")
  func mustUnderstand() throws {
    let both: KeyValuePairs = ["Cache-Control": "max-age=60, no-store, must-understand"]
    #expect(try storing(200, both) == .store)
    #expect(try storing(599, both) == .doNotStore(.statusNotUnderstood(599)))
    #expect(
      try storing(599, ["Cache-Control": "max-age=60, must-understand"])
        == .doNotStore(.statusNotUnderstood(599)))
  }

  // holds 9111-3-5, 9111-5.2.2.7-1
  @Test("§5.2.2.7 private keeps a response out of shared caches, and lets private ones store it")
  func privateDirective() throws {
    let fields: KeyValuePairs = ["Cache-Control": "private, max-age=60"]
    #expect(try storing(200, fields) == .store)
    #expect(try storing(200, fields, rules: sharedRules) == .doNotStore(.privateInShared))
    #expect(
      try storing(200, ["Cache-Control": "private=\"set-cookie\", max-age=60"], rules: sharedRules)
        == .store)
    #expect(
      try storing(
        201, ["Cache-Control": "private", "ETag": "\"1\""]) == .store)
  }

  @Test("§3 What could never be reused is not stored; what can be validated is")
  func neverReusable() throws {
    #expect(try storing(200) == .doNotStore(.neverReusable))
    #expect(try storing(200, ["Cache-Control": "no-cache"]) == .doNotStore(.neverReusable))
    #expect(
      try storing(200, ["Cache-Control": "no-cache, max-age=60"]) == .doNotStore(.neverReusable))
    #expect(
      try storing(200, ["Cache-Control": "max-age=0, must-revalidate"])
        == .doNotStore(.neverReusable))
    #expect(try storing(200, ["ETag": "unquoted"]) == .doNotStore(.neverReusable))
    #expect(try storing(200, ["ETag": "W/\"1\""]) == .store)
    #expect(try storing(200, ["Cache-Control": "no-cache", "ETag": "\"1\""]) == .store)
    #expect(try storing(200, ["Last-Modified": "Fri, 06 Nov 2020 12:00:00 GMT"]) == .store)
    #expect(try storing(200, ["Cache-Control": "max-age=0"]) == .store)
  }

  // holds 9111-4.1-1
  @Test("§4.1 Vary: * is not stored")
  func varyAny() throws {
    #expect(
      try storing(200, ["Cache-Control": "max-age=60", "Vary": "Foo, *"]) == .doNotStore(.varyAny))
  }

  // holds 9111-3-1, 9110-9.2.3-1
  @Test("RFC 9110 §9.2.3 Responses to methods other than GET are not stored")
  func methods() throws {
    for method in [HTTPRequest.Method.head, .put, .delete, .options, .patch] {
      #expect(
        try storing(200, ["Cache-Control": "max-age=60"], to: get(method: method))
          == .doNotStore(.method(method)))
    }
  }

  // holds 9110-9.3.3-1
  @Test("RFC 9110 §9.3.3 POST is stored with an explicit lifetime and its target as Content-Location")
  func post() throws {
    let post = try get("/a?b", method: .post)
    for location in ["/a?b", "?b", "https://EXAMPLE.com:443/a?b", "./a?b"] {
      #expect(
        try storing(200, ["Cache-Control": "max-age=60", "Content-Location": location], to: post)
          == .store)
    }
    #expect(
      try storing(200, ["Cache-Control": "max-age=60", "Content-Location": "/c"], to: post)
        == .doNotStore(.method(.post)))
    #expect(
      try storing(200, ["Cache-Control": "max-age=60"], to: post) == .doNotStore(.method(.post)))
    #expect(
      try storing(
        200, ["Last-Modified": "Thu, 05 Nov 2020 12:00:00 GMT", "Content-Location": "/a?b"], to: post)
        == .doNotStore(.method(.post)))
  }

  @Test("Every reason for not storing says what and where")
  func reasons() throws {
    let reasons: [StorageRefusal] = [
      .method(.put), .interim, .statusNotUnderstood(599), .statusNotStored(304), .responseNoStore,
      .requestNoStore, .privateInShared, .authorized, .notCacheable(status: 302), .neverReusable,
      .varyAny, .varySecret(.cookie), .malformed("Vary"), .partialContent, .incomplete, .setCookie,
      .credentials,
      .clientError(400), .clientError(501),
      .content(.undefinedSemantics(.get)), .noStoreDespiteOverride(override: "override 1"),
    ]
    for reason in reasons {
      #expect(!reason.description.isEmpty)
      #expect(reason.section.hasPrefix("RFC 9"))
    }
    #expect(StorageRefusal.responseNoStore.section == "RFC 9111 §5.2.2.5")
  }
}
