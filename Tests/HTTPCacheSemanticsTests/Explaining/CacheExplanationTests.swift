import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct CacheExplanationTests {
  static func explained(
    _ variants: [StoredResponse], _ request: HTTPRequest, policy: CachePolicy = .standard,
    rules: CacheRules = privateRules, part: StoredPart? = nil, length: Int64? = nil
  ) -> CacheExplanation {
    CacheExplanation.reuse(
      request, among: variants.map { CacheExplanation.Candidate($0, part: part, length: length) },
      in: CacheExplanation.Circumstances(
        policy: policy, rules: rules, now: today.adding(90), digest: reversing))
  }

  /// The answer to a question, nil if it was not asked.
  private func answer(_ question: String, _ explanation: CacheExplanation) -> String? {
    explanation.steps.first { $0.question == question }?.answer
  }

  @Test("A stale response is explained by every question, the numbers compared and their sections")
  func stale() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Age": "5"])
    let explanation = Self.explained([kept], try get())
    #expect(explanation.decision == .validate(.stale(age: .seconds(95), lifetime: .seconds(60))))
    #expect(
      explanation.description.split(separator: "\n").map(String.init) == [
        "Request",
        "  What is asked for? GET https://example.com/ (RFC 9111 §2)",
        "  Which cache is asked? a private one (RFC 9111 §1)",
        "  Which directives does it have? none (RFC 9111 §5.2.1)",
        "  Can the store answer it? yes (RFC 9111 §4)",
        "What is stored",
        "  Is a response stored for it? yes: one (RFC 9111 §4)",
        "  What is it? status 200 to GET, received Fri, 06 Nov 2020 12:00:00 GMT, ETag: \"1\" "
          + "(RFC 9111 §3)",
        "Variant",
        "  Is it for this request? yes: it is for any (RFC 9111 §4.1)",
        "  Does its method allow that? yes: it answered GET, the request is GET (RFC 9111 §4)",
        "Freshness",
        "  Which directives does it have? max-age=60 in Cache-Control (RFC 9111 §5.2.2)",
        "  Which dates does it have? Date: Fri, 06 Nov 2020 12:00:00 GMT, Age: 5 (RFC 9111 §4.2.3)",
        "  How long is it fresh? 60 s, from max-age (RFC 9111 §5.2.2.1)",
        "  How old is it? 95 s: 5 s on arrival, 90 s since (RFC 9111 §4.2.3)",
        "  May it be used without validation? yes (RFC 9111 §4)",
        "  Is it stale? yes: lifetime 60 s <= age 95 s (RFC 9111 §4.2)",
        "Decision",
        "  May it be used stale? no: stale for 35 s, with no directive (RFC 9111 §4.2.4)",
        "  May the origin be asked? yes (RFC 9111 §5.2.1.7)",
        "  Has it changed? The origin is asked: GET with If-None-Match: \"1\" (RFC 9111 §4.3.1)",
        "  And if the origin cannot be reached? reuse: the origin cannot be reached "
          + "(RFC 9111 §4.2.4)",
        "  And if it answers 503? the failure is passed on: status 503 and no stale-if-error "
          + "(RFC 5861 §4)",
        "  What is done? validate: stale: age 95 s, lifetime 60 s (RFC 9111 §4.2)",
      ])
  }

  @Test("Stored? To be validated? Stale? Changed? The questions end at the first that decides")
  func order() throws {
    let path = [
      "Is a response stored for it?", "May it be used without validation?", "Is it stale?",
      "Does the request want it as it is?", "May the origin be asked?",
      "Has it changed? The origin is asked:",
      "What is done?",
    ]
    func asked(_ value: String, request: KeyValuePairs<String, String> = [:]) throws -> [String] {
      let kept = try stored(200, ["Cache-Control": value, "ETag": "\"1\""])
      let questions = Self.explained([kept], try get(request)).steps.map(\.question)
      return questions.filter { path.contains($0) }
    }
    #expect(try asked("no-cache, max-age=60") == [path[0], path[1]] + path.suffix(3))
    #expect(try asked("max-age=600", request: ["Cache-Control": "max-age=9"]) == path)
    #expect(try asked("max-age=600") == path.prefix(4) + [path[6]])
  }

  @Test("The explained decision is the one that is taken")
  func decision() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60", "Vary": "Foo"], to: get(["Foo": "1"]))
    let foo = try #require(HTTPField.Name("Foo"))
    #expect(try Self.explained([], get()).decision == .miss(.absent))
    #expect(try Self.explained([kept], get()).decision == .miss(.variantMismatch([foo])))
    #expect(try Self.explained([kept], get(method: .post)).decision == .miss(.method(.post)))
    #expect(
      try Self.explained([], get(), policy: .cacheOnly).decision == .unsatisfiable(.miss(.absent)))
    #expect(
      try Self.explained([kept], get(["Foo": "1"]), policy: .cacheElseNetwork).decision
        == .stale(.policy(.cacheElseNetwork), age: .seconds(90), lifetime: .seconds(60)))
    #expect(
      try Self.explained([kept], get(["Cache-Control": "only-if-cached"]), policy: .bypass).decision
        == .miss(.policy(.bypass)))
  }

  @Test("§4.1 Of several variants it is told which one matched, and which values differed")
  func variants() throws {
    let first = try stored(
      200, ["Cache-Control": "max-age=600", "Vary": "Foo", "ETag": "\"a\""], to: get(["Foo": "1"]))
    let second = try stored(200, ["Cache-Control": "max-age=600", "Vary": "Foo"], to: get())
    let matched = try Self.explained([first, second], get(["Foo": "1"]))
    #expect(answer("Is a response stored for it?", matched) == "yes: 2")
    #expect(answer("Is number 1 for this request?", matched) == "yes: it is for Foo '1'")
    #expect(answer("Is number 2 for this request?", matched) == "no: it is for no Foo")
    let none = try Self.explained([first, second], get(["Foo": "2"]))
    #expect(answer("Is number 1 for this request?", none) == "no: it is for Foo '1'")
    let any = try stored(
      200, ["Cache-Control": "max-age=600", "Date": "Fri, 06 Nov 2020 12:00:09 GMT"])
    let chosen = try Self.explained([any, first], get(["Foo": "1"]))
    #expect(
      answer("Which of them is taken?", chosen)
        == "number 2, of Fri, 06 Nov 2020 12:00:00 GMT: one with Vary before one without, then the latest by "
        + "Date")
  }

  @Test("§7.3 Secrets that Vary names are compared but not shown")
  func secrets() throws {
    let kept = try stored(
      200, ["Cache-Control": "max-age=600", "Vary": "Cookie"], to: get(["Cookie": "id=hidden"]))
    for value in ["id=hidden", "id=other"] {
      let text = try Self.explained([kept], get(["Cookie": value])).description
      #expect(text.contains("Cookie"))
      #expect(!text.contains("hidden") && !text.contains("other,") && !text.contains("id="))
    }
    let authorized = try Self.explained([], get(["Authorization": "Basic hidden"])).description
    #expect(!authorized.contains("hidden"))
  }

  @Test("§4.2.1 Where a lifetime comes from is told")
  func lifetimes() throws {
    func lifetime(
      _ pairs: KeyValuePairs<String, String>, status: Int = 200, rules: CacheRules = privateRules
    ) throws -> String? {
      let kept = try stored(status, pairs, rules: rules)
      return answer("How long is it fresh?", try Self.explained([kept], get(), rules: rules))
    }
    let both: KeyValuePairs = ["Cache-Control": "max-age=5, s-maxage=9"]
    #expect(try lifetime(both) == "5 s, from max-age")
    #expect(try lifetime(both, rules: sharedRules) == "9 s, from s-maxage")
    #expect(try lifetime(["Expires": "Fri, 06 Nov 2020 12:00:07 GMT"]) == "7 s, from Expires")
    #expect(try lifetime(["Expires": "0"]) == "0 s, from Expires")
    #expect(
      try lifetime(["Last-Modified": "Fri, 06 Nov 2020 11:58:20 GMT"])
        == "10 s, from a share of the time since Last-Modified")
    #expect(
      try lifetime(["ETag": "\"1\""]) == "0 s, from nothing: no lifetime said, and no guess possible")
    let targeting = CacheRules(mode: .shared, targetedFields: ["CDN-Cache-Control"])
    let targeted = try stored(
      200, ["CDN-Cache-Control": "max-age=8", "Cache-Control": "no-store"], rules: targeting)
    let explanation = try Self.explained([targeted], get(), rules: targeting)
    #expect(answer("How long is it fresh?", explanation) == "8 s, from a targeted field")
    #expect(
      explanation.description.contains(
        "max-age=8 in cdn-cache-control, which replaces Cache-Control and Expires (RFC 9213 §2.2)"))
  }

  @Test("§4.2.4 What allows or forbids stale use is told with the windows")
  func windows() throws {
    let allowed = try stored(200, ["Cache-Control": "max-age=60, stale-while-revalidate=40"])
    #expect(
      answer("May it be used stale?", try Self.explained([allowed], get()))
        == "yes: stale for 30 s, with stale-while-revalidate=40")
    let forbidden = try stored(
      200, ["Cache-Control": "max-age=60, stale-while-revalidate=40, must-revalidate"])
    let explanation = try Self.explained([forbidden], get(["Cache-Control": "max-stale=50"]))
    #expect(
      answer("May it be used stale?", explanation)
        == "no: stale for 30 s, with stale-while-revalidate=40, must-revalidate, max-stale=50")
    let ignoring = CacheRules(allowsStaleWhileRevalidate: false)
    #expect(
      answer("May it be used stale?", try Self.explained([allowed], get(), rules: ignoring))
        == "no: stale for 30 s, with stale-while-revalidate=40, stale-while-revalidate (switched off)")
    #expect(
      answer("And if the origin cannot be reached?", explanation)
        == "the failure is passed on: must-revalidate")
    let fresh = try stored(200, ["Cache-Control": "max-age=600"])
    #expect(
      answer(
        "Does the request want it as it is?", try Self.explained([fresh], get(["Cache-Control": "max-age=9"]))
      )
        == "no: max-age=9 in the request: age 90 s")
  }

  @Test("§4.3.2 The request's own condition and range are told with what they make of the response")
  func conditions() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=600", "ETag": "\"1\""])
    #expect(
      answer(
        "What does its own condition make of it?",
        try Self.explained([kept], get(["If-None-Match": "\"1\""])))
        == "304, comparing If-None-Match: \"1\" with ETag: \"1\"")
    let other = try Self.explained(
      [kept], get(["If-None-Match": "\"2\"", "Range": "bytes=5-9"]), length: 100)
    #expect(
      answer("What does its own condition make of it?", other)
        == "nothing: it is sent, comparing If-None-Match: \"2\" with ETag: \"1\"")
    #expect(
      answer("What does its range make of it?", other)
        == "206 with octets 5-9 of 100, from Range: bytes=5-9")
    let beyond = try Self.explained([kept], get(["Range": "bytes=500-"]), length: 100)
    #expect(answer("What does its range make of it?", beyond)?.hasPrefix("416") == true)
  }

  @Test("§3.3 Of an incomplete response it is told which octets are there, and whether they suffice")
  func incomplete() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=600", "ETag": "\"1\""])
    let part = StoredPart(ranges: [0..<5, 7..<9], length: 10)
    let whole = Self.explained([kept], try get(), part: part)
    #expect(whole.decision == .miss(.partial))
    #expect(answer("Is there more?", whole) == "only octets 0-4, 7-8 of 10, not all it asks for")
    let within = Self.explained([kept], try get(["Range": "bytes=1-3"]), part: part)
    #expect(within.decision == .fresh(age: .seconds(90), lifetime: .seconds(600)))
    #expect(
      answer("What does its range make of it?", within)
        == "206 with octets 1-3 of 10, from Range: bytes=1-3")
  }

  @Test("§3 Storing is explained requirement by requirement, to the first that is not met")
  func storage() throws {
    let explanation = CacheExplanation.storage(
      request: try get(), response: try response(200, ["Cache-Control": "no-store, max-age=5"]),
      rules: sharedRules, now: today)
    #expect(explanation.decision == nil)
    #expect(
      explanation.steps.suffix(3).map(\.description) == [
        "Does the request allow it? yes (RFC 9111 §5.2.1.5)",
        "Does the response allow it? no: no-store (RFC 9111 §5.2.2.5)",
        "Is it stored? no: no-store (RFC 9111 §5.2.2.5)",
      ])
    let stored = CacheExplanation.storage(
      request: try get(), response: try response(200, ["Cache-Control": "max-age=5"]),
      rules: sharedRules, now: today)
    #expect(
      stored.description.split(separator: "\n").map(String.init) == [
        "Which cache is it for? a shared one (RFC 9111 §1)",
        "Which directives does it have? max-age=5 in Cache-Control (RFC 9111 §5.2.2)",
        "Is the method understood? yes: GET (RFC 9110 §9.2.3)",
        "Is the status final? yes: 200 (RFC 9111 §3)",
        "Is it a response that can be stored? yes: status 200, no range (RFC 9111 §3)",
        "Does the request allow it? yes (RFC 9111 §5.2.1.5)",
        "Does the response allow it? yes (RFC 9111 §5.2.2.5)",
        "May a shared cache have it? yes (RFC 9111 §5.2.2.7)",
        "Does anything make it cacheable? yes: max-age=5, no Expires, status 200 (RFC 9111 §3)",
        "Can it be selected again? yes: no Vary (RFC 9111 §4.1)",
        "How long is it fresh? 5 s, from max-age (RFC 9111 §5.2.2.1)",
        "Can it be used again, fresh, stale or validated? yes: age 0 s on arrival, no validator (RFC 9111 §3)",
        "Is it stored? yes (RFC 9111 §3)",
      ])
  }
}
