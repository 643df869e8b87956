import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_3_2_PreconditionTests {
  private func isNotModified(
    _ kept: StoredResponse, _ pairs: KeyValuePairs<String, String>,
    method: HTTPRequest.Method = .get
  ) throws -> Bool {
    Preconditions.evaluate(try get(method: method, pairs), stored: kept, now: today) != nil
  }

  // holds 9111-4.3.2-1, 9110-13.1.2-1, 9110-8.8.3.2-1
  @Test("RFC 9110 §13.1.2 If-None-Match compares weakly, in lists and for *")
  func noneMatch() throws {
    let kept = try stored(200, ["ETag": "\"abc\""])
    for value in ["\"abc\"", "W/\"abc\"", "\"1\", \"abc\",\"2\"", "\"1\" , W/\"abc\"", "*", ", \"abc\""] {
      #expect(try isNotModified(kept, ["If-None-Match": value]))
    }
    for value in ["\"abd\"", "abc", "w/\"abc\"", "\"abc", "\"1\", *", "", "W\"abc\""] {
      #expect(try !isNotModified(kept, ["If-None-Match": value]))
    }
    #expect(try isNotModified(kept, ["If-None-Match": "\"1\"", "if-none-match": "\"abc\""]))
    #expect(try isNotModified(kept, ["If-None-Match": "\"abc\""], method: .head))
    #expect(try !isNotModified(stored(200), ["If-None-Match": "\"abc\""]))
    #expect(try isNotModified(stored(200, ["ETag": "W/\"a,b\""]), ["If-None-Match": "\"a,b\""]))
  }

  // holds 9111-4.3.2-1, 9110-13.1.3-2
  @Test("RFC 9110 §13.1.3 If-Modified-Since is met by an earlier or equal date")
  func modifiedSince() throws {
    let kept = try stored(200, ["Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT"])
    #expect(try isNotModified(kept, ["If-Modified-Since": "Fri, 06 Nov 2020 10:00:00 GMT"]))
    #expect(try isNotModified(kept, ["If-Modified-Since": "Friday, 06-Nov-20 10:00:01 GMT"]))
    #expect(try !isNotModified(kept, ["If-Modified-Since": "Fri, 06 Nov 2020 09:59:59 GMT"]))
    #expect(try !isNotModified(kept, ["If-Modified-Since": "tomorrow"]))
  }

  // holds 9110-13.1.3-2, 9110-13.2.1-5
  @Test("RFC 9110 §13.1.3 Any other If-Modified-Since is ignored: several dates, other methods")
  func modifiedSinceIgnored() throws {
    let late = "Fri, 06 Nov 2020 11:00:00 GMT"
    let later = "Fri, 06 Nov 2020 11:30:00 GMT"
    let kept = try stored(200, ["Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT"])
    #expect(try isNotModified(kept, ["If-Modified-Since": late]))
    for pairs: KeyValuePairs in [
      ["If-Modified-Since": "\(late), \(later)"],
      ["If-Modified-Since": late, "if-modified-since": later],
      ["If-Modified-Since": late, "if-modified-since": late],
    ] {
      #expect(try !isNotModified(kept, pairs))
    }
    for method in [HTTPRequest.Method.post, .put, .options, .trace, .query] {
      #expect(try !isNotModified(kept, ["If-Modified-Since": late], method: method))
      if method == .query { continue }
      #expect(
        try !isNotModified(stored(200, ["ETag": "\"1\""]), ["If-None-Match": "\"1\""], method: method))
    }
  }

  // holds 9110-13.1.3-3
  @Test("RFC 9110 §13.1.3 The clock of the origin counts, not ours")
  func originClock() throws {
    let ahead = "Sat, 06 Nov 2021 10:00:00 GMT"
    let kept = try stored(200, ["Last-Modified": ahead])
    #expect(try isNotModified(kept, ["If-Modified-Since": ahead]))
    #expect(try !isNotModified(kept, ["If-Modified-Since": "Sat, 06 Nov 2021 09:59:59 GMT"]))
  }

  // holds 9111-4.3.2-4
  @Test("§4.3.2 Without Last-Modified the Date is compared")
  func withoutLastModified() throws {
    let kept = try stored(200, ["Date": "Fri, 06 Nov 2020 11:00:00 GMT"])
    #expect(try isNotModified(kept, ["If-Modified-Since": "Fri, 06 Nov 2020 11:00:00 GMT"]))
    #expect(try !isNotModified(kept, ["If-Modified-Since": "Fri, 06 Nov 2020 10:59:59 GMT"]))
  }

  // holds 9110-13.1.3-1, 9110-13.2.2-1
  @Test("RFC 9110 §13.2.2 If-None-Match goes before If-Modified-Since")
  func precedence() throws {
    let kept = try stored(
      200, ["ETag": "\"abc\"", "Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT"])
    #expect(
      try isNotModified(
        kept,
        ["If-None-Match": "\"abc\"", "If-Modified-Since": "Fri, 06 Nov 2020 09:00:00 GMT"]))
    #expect(
      try !isNotModified(
        kept,
        ["If-None-Match": "\"1\"", "If-Modified-Since": "Fri, 06 Nov 2020 11:00:00 GMT"]))
  }

  // holds 9111-4.3.2-2, 9110-13.2.1-2
  @Test("§4.3.2 Conditions for the origin are forwarded; those on other statuses are ignored")
  func applicable() throws {
    let kept = try stored(404, ["ETag": "\"abc\""])
    #expect(try !isNotModified(kept, ["If-None-Match": "\"abc\""]))
    #expect(
      try Preconditions.evaluate(get(["If-Match": "*"]), stored: kept, now: today) == nil)
    #expect(
      try Preconditions.evaluate(
        get(["If-None-Match": "\"abc\"", "If-Unmodified-Since": "x"]),
        stored: stored(200, ["ETag": "\"abc\""]), now: today) == nil)
  }

  // holds 9110-15.4.5-1, 9110-15.4.5-2
  @Test("RFC 9110 §15.4.5 The 304 has the fields that guide caches, and the age")
  func head() throws {
    let kept = try stored(
      200,
      [
        "Date": "Fri, 06 Nov 2020 11:59:00 GMT", "ETag": "\"1\"", "Cache-Control": "max-age=600",
        "Vary": "Foo", "Content-Location": "/x", "Expires": "0", "Content-Type": "text/plain",
        "Content-Length": "5", "Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT",
      ])
    let result = Preconditions.evaluate(
      try get(["If-None-Match": "\"1\""]), stored: kept, now: today.adding(5))
    #expect(
      try result
        == response(
          304,
          [
            "Date": "Fri, 06 Nov 2020 11:59:00 GMT", "ETag": "\"1\"",
            "Cache-Control": "max-age=600", "Vary": "Foo", "Content-Location": "/x",
            "Expires": "0", "Age": "65",
          ]))
  }
}
