import HTTPCacheFuzzing
import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

/// An explanation agrees with the decision of the rules, for any input.
@Suite(.timeLimit(.minutes(10))) struct ExplanationPropertyTests {
  private static let directives: [String] =
    ResponseDirective.allCases.map(sample)
    + RequestDirective.allCases.filter { ResponseDirective(named: "\($0.name)") == nil }
    .map(requestSample)
    + ["max-age=0", "private=\"set-cookie\"", "max-stale"]
  private static let dates = [
    "Fri, 06 Nov 2020 11:00:00 GMT", "Fri, 06 Nov 2020 12:00:00 GMT", "Fri, 06 Nov 2020 12:01:00 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT", "0",
  ]
  private static let policies: [CachePolicy] = [
    .standard, .reload, .reloadEverywhere, .revalidate, .cacheElseNetwork, .cacheOnly,
    .networkElseCache(maxStale: .seconds(5)),
  ]

  private static func sample(_ directive: ResponseDirective) -> String {
    switch directive.argument {
    case .nothing, .fieldNames: "\(directive.name)"
    case .seconds: "\(directive.name)=60"
    }
  }

  private static func requestSample(_ directive: RequestDirective) -> String {
    directive.argument == .seconds ? "\(directive.name)=20" : "\(directive.name)"
  }

  /// Fields that make sense more often than those of `PropertyTests`, and those sometimes.
  private static func fields(_ random: inout Seeded, isRequest: Bool) throws -> HTTPFields {
    if Int.random(in: 0..<6, using: &random) == 0 { return try PropertyTests.fields(&random) }
    var fields = HTTPFields()
    func add(_ name: String, _ value: String, oneIn: Int) throws {
      guard Int.random(in: 0..<oneIn, using: &random) == 0 else { return }
      fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    for _ in 0..<2 {
      try add("Cache-Control", directives.randomElement(using: &random, orElse: ""), oneIn: 2)
    }
    if isRequest {
      try add("Pragma", "no-cache", oneIn: 8)
      try add("Authorization", "Basic x", oneIn: 5)
      try add("If-None-Match", "\"1\"", oneIn: 5)
      try add("If-Match", "\"1\"", oneIn: 9)
      try add("If-Modified-Since", dates.randomElement(using: &random, orElse: ""), oneIn: 5)
      try add("Range", "bytes=0-4", oneIn: 5)
      try add("Foo", ["1", "2"].randomElement(using: &random, orElse: ""), oneIn: 2)
    } else {
      try add(
        "CDN-Cache-Control", directives.randomElement(using: &random, orElse: ""), oneIn: 5)
      try add("Date", dates.randomElement(using: &random, orElse: ""), oneIn: 2)
      try add("Expires", dates.randomElement(using: &random, orElse: ""), oneIn: 4)
      try add("Last-Modified", dates.randomElement(using: &random, orElse: ""), oneIn: 3)
      try add("ETag", "\"1\"", oneIn: 3)
      try add("Age", "30", oneIn: 4)
      try add("Vary", ["Foo", "*", "Foo, Cookie"].randomElement(using: &random, orElse: ""), oneIn: 4)
      try add("Content-Location", "/", oneIn: 3)
      try add("Content-Range", "bytes 0-4/10", oneIn: 4)
    }
    return fields
  }

  private static func rules(_ random: inout Seeded) -> CacheRules {
    CacheRules(
      mode: Bool.random(using: &random) ? .private : .shared,
      targetedFields: Bool.random(using: &random) ? ["CDN-Cache-Control"] : [])
  }

  private static func request(
    _ methods: [HTTPRequest.Method], _ random: inout Seeded
  ) throws -> HTTPRequest {
    HTTPRequest(
      method: methods.randomElement(using: &random, orElse: .get), scheme: "https",
      authority: "example.com", path: "/", headerFields: try fields(&random, isRequest: true))
  }

  /// How the last step begins where this was decided.
  private static func ending(of decision: ReuseDecision) -> String {
    switch decision {
    case .fresh: "reuse, fresh"
    case .stale: "reuse, stale"
    case .validate(let reason): "validate: \(reason)"
    case .miss(let reason): "forward: \(reason)"
    case .unsatisfiable(let reason): "refuse: \(reason)"
    }
  }

  @Test("§4 The explained decision is that of Reuse.decide, and the last step says the same")
  func reuse() throws {
    var random = Seeded(seed: 4)
    var seen: Set<String> = []
    for _ in 0..<6_000 {
      let rules = Self.rules(&random)
      let first = try Self.request([.get, .get, .get, .head, .post], &random)
      let response = HTTPResponse(
        status: .init(code: [200, 200, 206, 404, 500].randomElement(using: &random, orElse: 200)),
        headerFields: try Self.fields(&random, isRequest: false))
      guard
        var kept = try? StoredResponse.make(
          request: first, response: ReceivedResponse(response, requestTime: today, responseTime: today),
          isDecoded: Int.random(in: 0..<9, using: &random) == 0, rules: rules, digest: reversing)
      else { continue }
      kept.isInvalidated = Int.random(in: 0..<9, using: &random) == 0
      let request = try Self.request([.get, .get, .get, .head, .post], &random)
      let policy = Self.policies.randomElement(using: &random, orElse: .standard)
      let now =
        Int.random(in: 0..<9, using: &random) == 0
        ? PropertyTests.time(&random) : today.adding(Int64.random(in: -5...120, using: &random))
      let directives = RequestDirectives(request.headerFields)
      let part = Int.random(in: 0..<5, using: &random) == 0 ? StoredPart(ranges: [0..<5], length: 10) : nil
      let expected: ReuseDecision
      if let reason = Reuse.methodMiss(request) {
        expected = Reuse.whenMissing(reason, directives: directives, policy: policy)
      } else {
        let isSuitable =
          part.map { RangeRequest.ranges(for: request, stored: kept, part: $0) != nil } ?? true
        switch Vary.select(among: isSuitable ? [kept] : [], for: request, rules: rules, digest: reversing) {
        case .selected:
          expected = Reuse.decide(
            stored: kept, request: request, directives: directives, policy: policy, rules: rules,
            now: now)
        case .mismatch(let names):
          expected = Reuse.whenMissing(
            .variantMismatch(names), directives: directives, policy: policy)
        case .nothingStored:
          expected = Reuse.whenMissing(
            part == nil ? .absent : .partial, directives: directives, policy: policy)
        }
      }
      let explanation = CacheExplanation.reuse(
        request, among: [CacheExplanation.Candidate(kept, part: part, length: 10)],
        in: CacheExplanation.Circumstances(policy: policy, rules: rules, now: now, digest: reversing))
      #expect(explanation.decision == expected)
      let last = try #require(explanation.steps.last)
      #expect(last.question == "What is done?")
      #expect(last.answer.hasPrefix(Self.ending(of: expected)), "\(explanation)")
      expectConsistent(explanation, expected)
      seen.insert(String(last.answer.prefix(12)))
    }
    for beginning in [
      "reuse, fresh", "reuse, stale", "validate: st", "forward: sto", "forward: onl", "refuse: aski",
    ] {
      #expect(seen.contains(beginning))
    }
  }

  /// No earlier answer contradicts the last one.
  private func expectConsistent(_ explanation: CacheExplanation, _ decision: ReuseDecision) {
    func yes(_ question: String) -> Bool? {
      explanation.steps.first { $0.question == question }?.answer.hasPrefix("yes")
    }
    let isForwarded = explanation.steps.contains {
      $0.question == "What is the origin asked?" || $0.question.hasPrefix("Has it changed?")
    }
    switch decision {
    case .fresh:
      #expect(yes("Is it stale?") == false && yes("May it be used without validation?") == true)
      #expect(yes("Does the request want it as it is?") == true && !isForwarded)
    case .stale:
      #expect(yes("Is it stale?") == true && yes("May it be used without validation?") == true)
      #expect(yes("May it be used stale?") == true && !isForwarded)
    case .validate(let reason):
      #expect(isForwarded && yes("May the origin be asked?") == true)
      if case .stale = reason { #expect(yes("May it be used stale?") == false) }
    case .miss: #expect(isForwarded && yes("May the origin be asked?") == true)
    case .unsatisfiable: #expect(!isForwarded && yes("May the origin be asked?") == false)
    }
  }

  @Test("§3 The storing explained is that of Storability.decide, and its only no is the reason")
  func storage() throws {
    var random = Seeded(seed: 3)
    var sections: Set<String> = []
    var storedCount = 0
    for _ in 0..<6_000 {
      let rules = Self.rules(&random)
      let request = try Self.request([.get, .get, .get, .post, .put], &random)
      let codes = [100, 200, 200, 200, 206, 302, 304, 404, 429, 500, 599]
      let response = HTTPResponse(
        status: .init(code: codes.randomElement(using: &random, orElse: 200)),
        headerFields: try Self.fields(&random, isRequest: false))
      let explanation = CacheExplanation.storage(
        request: request, response: response, rules: rules, now: today)
      let last = try #require(explanation.steps.last)
      let firstNo = explanation.steps.first { $0.answer.hasPrefix("no:") }
      switch Storability.decide(request: request, response: response, rules: rules, now: today) {
      case .store:
        storedCount += 1
        #expect(last.answer == "yes")
        #expect(firstNo == nil, "\(explanation)")
      case .doNotStore(let refusal):
        sections.insert(refusal.section)
        #expect(last.answer == "no: \(refusal)" && last.section == refusal.section)
        let first = try #require(firstNo)
        #expect(first != last && first.section == refusal.section, "\(explanation)")
        #expect(explanation.steps.dropLast().last == first, "\(explanation)")
      }
    }
    #expect(storedCount > 500)
    #expect(
      sections.isSuperset(of: [
        "RFC 9111 §3", "RFC 9111 §5.2.2.5", "RFC 9111 §5.2.1.5", "RFC 9111 §5.2.2.7",
        "RFC 9111 §3.5", "RFC 9111 §5.2.2.3", "RFC 9111 §4.1", "RFC 9111 §3.3", "RFC 9110 §9.2.3",
        "RFC 9110 §9.3.3", "RFC 6585 §4",
      ]), "\(sections)")
  }
}
