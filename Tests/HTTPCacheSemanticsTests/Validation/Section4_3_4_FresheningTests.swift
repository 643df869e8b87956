import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_3_4_FresheningTests {
  private let early = "Fri, 06 Nov 2020 10:00:00 GMT"
  private let late = "Fri, 06 Nov 2020 11:00:00 GMT"

  private func decision(
    _ pairs: KeyValuePairs<String, String>, _ candidates: [StoredResponse]
  ) throws -> FresheningDecision {
    Freshening.decide(notModified: try response(304, pairs), candidates: candidates)
  }

  // holds 9111-4.3.4-1, 9110-8.8.3.2-1
  @Test("§4.3.4 A strong tag identifies all that have it, and nothing else will do")
  func strong() throws {
    let candidates = [
      try stored(200, ["ETag": "\"1\""]), try stored(200, ["ETag": "\"2\""]),
      try stored(200, ["ETag": "\"1\""]), try stored(200, ["ETag": "W/\"1\""]),
    ]
    #expect(try decision(["ETag": "\"1\""], candidates) == .freshen([0, 2]))
    #expect(try decision(["ETag": "\"3\""], candidates) == .noMatch)
    #expect(
      try decision(
        ["ETag": "\"3\"", "Last-Modified": early], [stored(200, ["Last-Modified": early])])
        == .noMatch)
  }

  // holds 9111-4.3.4-3, 9110-8.8.3.2-1
  @Test("§4.3.4 Weak validators identify the most recent match")
  func weak() throws {
    let candidates = [
      try stored(200, ["ETag": "W/\"1\"", "Date": early]),
      try stored(200, ["ETag": "\"1\"", "Date": late]),
      try stored(200, ["Last-Modified": early, "Date": early]),
    ]
    #expect(try decision(["ETag": "W/\"1\""], candidates) == .freshen([1]))
    #expect(try decision(["Last-Modified": early], candidates) == .freshen([2]))
    #expect(try decision(["Last-Modified": late], candidates) == .noMatch)
    #expect(
      try decision(
        ["ETag": "W/\"2\"", "Last-Modified": early],
        [stored(200, ["ETag": "W/\"1\"", "Last-Modified": early])]) == .noMatch)
  }

  // holds 9111-4.3.4-3
  @Test("§4.3.4 A 304 without validator means the only candidate, if there is only one")
  func none() throws {
    #expect(try decision([:], [stored(200)]) == .freshen([0]))
    #expect(try decision([:], [stored(200), stored(200)]) == .noMatch)
    #expect(try decision([:], [stored(200, ["ETag": "\"1\""])]) == .freshen([0]))
    #expect(
      try decision([:], [stored(200, ["ETag": "\"1\""]), stored(200, ["ETag": "\"2\""])])
        == .noMatch)
    #expect(try decision([:], []) == .noMatch)
  }

  // holds 9111-4.3.4-3
  @Test("§4.3.4 Weak tags, dates and bare 304s confirm only what could have been chosen")
  func mismatched() throws {
    let candidates = [
      try stored(200, ["ETag": "W/\"1\"", "Last-Modified": early, "Date": early]),
      try stored(200, ["ETag": "W/\"1\"", "Last-Modified": early, "Date": late]),
    ]
    func decision(
      _ pairs: KeyValuePairs<String, String>, mismatched: Set<Int>
    ) throws -> FresheningDecision {
      Freshening.decide(
        notModified: try response(304, pairs), candidates: candidates, mismatched: mismatched)
    }
    for fields in [["ETag": "W/\"1\""], ["Last-Modified": early]] as [KeyValuePairs<String, String>] {
      #expect(try decision(fields, mismatched: []) == .freshen([1]))
      #expect(try decision(fields, mismatched: [1]) == .freshen([0]))
      #expect(try decision(fields, mismatched: [0, 1]) == .noMatch)
    }
    let single = [try stored(200, ["ETag": "\"1\""])]
    #expect(
      Freshening.decide(notModified: try response(304), candidates: single, mismatched: [0]) == .noMatch)
    #expect(
      try Freshening.decide(
        notModified: response(304, ["ETag": "W/\"1\""]), candidates: single, mismatched: [0]) == .noMatch)
  }

  // holds 9111-4.3.4-1
  @Test("§4.3.4, RFC 9110 §8.8.3.3 A strong tag updates what could have been chosen, or names another")
  func strongMismatch() throws {
    let candidates = [
      try stored(200, ["ETag": "\"1\"", "Content-Encoding": "gzip"]),
      try stored(200, ["ETag": "\"1\""]), try stored(200, ["ETag": "\"1\""]),
    ]
    func decision(mismatched: Set<Int>, _ tags: [String] = ["\"1\""]) throws -> FresheningDecision {
      var head = try response(304)
      for tag in tags { head.headerFields.append(HTTPField(name: .eTag, value: tag)) }
      return Freshening.decide(
        notModified: head, candidates: candidates, mismatched: mismatched)
    }
    #expect(try decision(mismatched: [0]) == .freshen([1, 2]))
    #expect(try decision(mismatched: [0, 1]) == .freshen([2]))
    // One tag for two representations tells nothing of either.
    #expect(try decision(mismatched: [0, 1, 2]) == .noMatch)
    let same = Array(candidates.dropFirst())
    let tagged = try response(304, ["ETag": "\"1\""])
    #expect(Freshening.decide(notModified: tagged, candidates: same, mismatched: [0, 1]) == .reuse(0))
    let twice = HTTPResponse(
      status: .notModified, headerFields: try fields(["ETag": "\"1\"", "etag": "\"2\""]))
    #expect(Freshening.decide(notModified: twice, candidates: same, mismatched: [0, 1]) == .noMatch)
  }

  private func updated(
    _ kept: StoredResponse, _ pairs: KeyValuePairs<String, String>, after seconds: Int64 = 100,
    rules: CacheRules = privateRules, request: HTTPRequest? = nil
  ) throws -> StoredResponse {
    let time = today.adding(seconds)
    return Freshening.updated(
      kept, with: ReceivedResponse(try response(304, pairs), requestTime: time, responseTime: time),
      rules: rules, validating: request, digest: reversing)
  }

  // holds 9111-3.2-1, 9111-4.3.4-2
  @Test("§3.2 Fields of the 304 replace stored ones, others stay")
  func fieldsReplaced() throws {
    let kept = try stored(
      200,
      [
        "ETag": "\"1\"", "Cache-Control": "max-age=1", "A": "1", "a": "2", "B": "1",
        "Content-Type": "text/plain",
      ])
    let fresh = try updated(
      kept, ["ETag": "\"1\"", "Cache-Control": "max-age=3600", "A": "3", "Content-Type": "x/y"])
    let fields = fresh.head.headerFields
    #expect(fresh.head.status == .ok)
    #expect(fields[.cacheControl] == "max-age=3600")
    #expect(fields[values: try #require(HTTPField.Name("A"))] == ["3"])
    #expect(fields[values: try #require(HTTPField.Name("B"))] == ["1"])
    #expect(fields[.contentType] == "x/y")
    #expect(try decide(fresh, after: 60) == .fresh(age: .seconds(60), lifetime: .seconds(3600)))
  }

  // holds 9111-3.2-1, 9111-3.2-2
  @Test(
    "§3.2 Nothing else is left out of an update: Content-* is no sign of an exception",
    arguments: [
      "Content-Language", "Content-Location", "Content-Disposition", "Content-Security-Policy",
      "Content-Type", "Set-Cookie", "Expires", "Last-Modified", "X-Frame-Options", "Unknown",
    ])
  func noOtherFieldKept(name: String) throws {
    let field = try #require(HTTPField.Name(name))
    var kept = try stored(200, ["ETag": "\"1\""])
    kept.head.headerFields[field] = "old"
    let fresh = try updated(kept, ["ETag": "\"1\"", name: "new"])
    #expect(fresh.head.headerFields[values: field] == ["new"])
  }

  // holds 9111-3.2-1
  @Test("§3.2 What the stored body depends on is not replaced")
  func fieldsKept() throws {
    let kept = try stored(
      200,
      ["Content-Length": "36", "Content-Encoding": "gzip", "Content-Digest": "sha-256=:AA==:"])
    let fresh = try updated(
      kept,
      [
        "Content-Length": "10", "Content-Encoding": "br", "Content-Digest": "sha-256=:BB==:",
        "Content-Range": "bytes 0-1/2", "Connection": "x", "X": "1", "Keep-Alive": "1",
      ])
    let names = fresh.head.headerFields.map(\.name.rawName)
    #expect(fresh.head.headerFields[.contentLength] == "36")
    #expect(fresh.head.headerFields[.contentEncoding] == "gzip")
    #expect(Set(names) == ["Content-Length", "Content-Encoding", "Content-Digest", "Date"])
  }

  @Test("§4.2.3 Age and Date of the first response do not outlive the validation")
  func ageAndDate() throws {
    let kept = try stored(
      200, ["Cache-Control": "max-age=60", "Age": "50", "Date": early, "ETag": "\"1\""])
    let fresh = try updated(kept, ["ETag": "\"1\""])
    #expect(fresh.head.headerFields[.age] == nil)
    #expect(fresh.head.headerFields[.date] == today.adding(100).httpDate)
    #expect(Age.current(fresh, now: today.adding(101)) == 1)
    let aged = try updated(kept, ["ETag": "\"1\"", "Age": "7"])
    #expect(Age.current(aged, now: today.adding(101)) == 8)
  }

  @Test("§4.4 A validation clears an invalidation")
  func invalidation() throws {
    var kept = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    kept.isInvalidated = true
    #expect(try updated(kept, ["ETag": "\"1\""]).isInvalidated == false)
  }

  // holds 9111-5.2.2-1
  @Test("§5.2.2.5 A 304 that forbids storing leaves nothing that is reused without validation")
  func forbidden() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    #expect(try updated(kept, ["Cache-Control": "no-store"]).isInvalidated)
    #expect(try updated(kept, ["Cache-Control": "private"]).isInvalidated == false)
    #expect(try updated(kept, ["Cache-Control": "private"], rules: sharedRules).isInvalidated)
  }

  // holds 9111-5.2.2-1
  @Test(
    "§5.2.2.5, §5.2.2.7 Nothing of a 304 that must not be stored is kept for the next request",
    arguments: ["no-store", "private, max-age=60"])
  func nothingForbiddenIsKept(control: String) throws {
    let kept = try stored(200, ["Cache-Control": "public, max-age=60", "ETag": "\"1\""], rules: sharedRules)
    let marked = try updated(
      kept, ["Cache-Control": control, "Set-Cookie": "sid=A", "ETag": "\"1\""], rules: sharedRules)
    #expect(marked.isInvalidated)
    #expect(marked.head == kept.head)
    let fresh = try updated(marked, ["ETag": "\"1\""], after: 200, rules: sharedRules)
    #expect(!fresh.isInvalidated)
    #expect(fresh.head.headerFields[.setCookie] == nil)
    #expect(fresh.head.headerFields[.cacheControl] == "public, max-age=60")
    let update = Freshening.update(
      of: kept,
      with: ReceivedResponse(
        try response(304, ["Cache-Control": control, "Set-Cookie": "sid=A"]), requestTime: today,
        responseTime: today), rules: sharedRules)
    #expect(update.answer.head.headerFields[.setCookie] == "sid=A")
  }

  @Test("§3.2 What is stored with fields that forbid it does not get fresh by a 304 without them")
  func mergedForbids() throws {
    var kept = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], rules: sharedRules)
    kept.head.headerFields[.cacheControl] = "private, max-age=60"
    #expect(try updated(kept, ["ETag": "\"1\""], rules: sharedRules).isInvalidated)
    #expect(try !updated(kept, ["ETag": "\"1\""]).isInvalidated)
  }

  @Test("§3.5 A shared cache keeps nothing of a 304 to an authorized request that does not allow it")
  func authorized() throws {
    let request = try get(["Authorization": "Bearer x"])
    let kept = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], rules: sharedRules)
    let marked = try updated(
      kept, ["Set-Cookie": "sid=A"], rules: sharedRules, request: request)
    #expect(marked.isInvalidated && marked.head == kept.head)
    #expect(
      try !updated(
        kept, ["Cache-Control": "public, max-age=60"], rules: sharedRules, request: request
      ).isInvalidated)
  }

  // holds 9111-4.1-1
  @Test("§4.1 A new Vary is nominated from the request, or forces validation where there is none")
  func vary() throws {
    let kept = try stored(
      200, ["Vary": "Foo", "ETag": "\"1\"", "Cache-Control": "max-age=600"], to: get(["Foo": "1"]))
    let same = try updated(kept, ["Vary": "foo"])
    #expect(same.nominated == kept.nominated)
    #expect(!same.isInvalidated)
    let request = try get(["Foo": "1", "Bar": "2"])
    let wider = try updated(kept, ["Vary": "Foo, Bar"], request: request)
    #expect(wider.nominated.count == 2)
    #expect(!wider.isInvalidated)
    #expect(Vary.matches(wider, request: request, rules: privateRules, digest: reversing))
    #expect(!Vary.matches(wider, request: try get(["Foo": "1"]), rules: privateRules, digest: reversing))
    for value in ["Foo, Bar", "*"] {
      let unknown = try updated(kept, ["Vary": value])
      #expect(unknown.isInvalidated)
      #expect(unknown.nominated == kept.nominated)
      #expect(unknown.head.headerFields[.vary] == "Foo")
    }
    #expect(try updated(kept, ["Vary": ""]).nominated == kept.nominated)
  }
}
