import Foundation
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

/// Takes every directive through every place that must know it. A new case of `ResponseDirective` or
/// `RequestDirective` is asked about by the compiler here, and by these tests where a place forgets it.
@Suite(.timeLimit(.minutes(10))) struct EveryDirectiveTests {
  /// The directive as an origin sends it.
  private func sample(_ directive: ResponseDirective) -> String {
    switch directive.argument {
    case .nothing, .fieldNames: "\(directive.name)"
    case .seconds: "\(directive.name)=7"
    }
  }

  private let now = StoreSample.start

  private func response(_ value: String, in name: HTTPField.Name = .cacheControl) -> HTTPResponse {
    HTTPResponse(status: .ok, headerFields: [name: value])
  }

  private var request: HTTPRequest {
    HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
  }

  private func rules(_ effect: RuleEffect) -> CacheRules {
    CacheRules(overrides: [RuleOverride([], effects: [effect])]).resolved(for: request)
  }

  @Test("Both parsers read each response directive", arguments: ResponseDirective.allCases)
  func parsers(directive: ResponseDirective) throws {
    let sample = sample(directive)
    let name = try #require(HTTPField.Name("CDN-Cache-Control"))
    let plain = ResponseDirectives([.cacheControl: sample.uppercased()], rules: CacheRules())
    let targeted = ResponseDirectives(
      [name: sample], rules: CacheRules(targetedFields: ["CDN-Cache-Control"]))
    #expect(plain != ResponseDirectives())
    #expect(plain.texts == [sample])
    #expect(targeted.source == .targeted("cdn-cache-control"))
    var unsourced = targeted
    unsourced.source = .cacheControl
    #expect(unsourced == plain)
  }

  @Test("Facts keep what counts for reuse, and so does the codec", arguments: ResponseDirective.allCases)
  func facts(directive: ResponseDirective) throws {
    let facts = Freshness.facts(
      response: response(sample(directive)), requestTime: now, responseTime: now, rules: CacheRules())
    switch directive.place {
    case .maxAge: #expect(facts.directiveTexts.isEmpty && facts.freshnessLifetime == 7)
    case .window: #expect(facts.directiveTexts == [sample(directive)])
    case .flag(let flag, _) where flag.kept.isEmpty: #expect(facts.directiveTexts.isEmpty)
    case .sMaxAge, .noCache, .private, .flag: #expect(facts.directiveTexts == ["\(directive.name)"])
    }
    var stored = StoreSample.response()
    stored.facts = facts
    let record = CacheRecord(key: StoreSample.key(), response: stored)
    #expect(try RecordCodec.decode(try RecordCodec.encode(record)).response.facts == facts)
  }

  @Test("An explanation tells each response directive", arguments: ResponseDirective.allCases)
  func explanation(directive: ResponseDirective) {
    let explanation = CacheExplanation.storage(
      request: request, response: response(sample(directive)), rules: CacheRules(), now: now)
    #expect(
      explanation.steps.contains {
        $0.question == "Which directives does it have?"
          && $0.answer == "\(sample(directive)) in Cache-Control"
      })
  }

  @Test("Overrides ignore each directive but three", arguments: ResponseDirective.allCases)
  func ignored(directive: ResponseDirective) throws {
    let ignored = RuleEffect.Ignored(rawValue: "\(directive.name)")
    guard ![.public, .mustUnderstand, .noTransform].contains(directive) else {
      #expect(ignored == nil)
      return
    }
    let effect = RuleEffect.ignoring([try #require(ignored)])
    #expect(ResponseDirectives(of: response(sample(directive)), rules: rules(effect)) == ResponseDirectives())
  }

  @Test("Overrides add each directive without argument but five", arguments: ResponseDirective.allCases)
  func added(directive: ResponseDirective) throws {
    let added = RuleEffect.Added(rawValue: "\(directive.name)")
    let isAdded = ![.private, .proxyRevalidate, .public, .mustUnderstand, .noTransform].contains(directive)
    guard isAdded, directive.argument != .seconds else {
      #expect(added == nil)
      return
    }
    let effect = RuleEffect.adding([try #require(added)])
    #expect(ResponseDirectives(of: response("x"), rules: rules(effect)).texts == ["\(directive.name)"])
  }

  @Test("Each part of an override that ignores or adds a directive has one")
  func overrideParts() {
    let names = Set(ResponseDirective.allCases.map { "\($0.name)" })
    #expect(names.isSuperset(of: RuleEffect.Added.allCases.map(\.rawValue)))
    #expect(Set(RuleEffect.Ignored.allCases.map(\.rawValue)).subtracting(names) == ["Expires"])
  }

  @Test("Each window is a directive that overrides set", arguments: ReuseWindow.allCases)
  func windows(window: ReuseWindow) throws {
    let directive = try #require(ResponseDirective(named: window.rawValue))
    guard case .window(window) = directive.place else {
      Issue.record("\(directive) has another place")
      return
    }
    let rules = rules(.window(window, .seconds(7)))
    #expect(ResponseDirectives(of: response("x"), rules: rules).texts == [sample(directive)])
  }

  @Test("A response that may be used stale is storable without a validator; its explanation says so")
  func staleWindows() {
    for window in ReuseWindow.allCases {
      let response = response("public, \(window.rawValue)=7")
      #expect(
        Storability.decide(request: request, response: response, rules: CacheRules(), now: now) == .store)
      var stored = StoreSample.response()
      stored.facts = Freshness.facts(
        response: response, requestTime: now, responseTime: now, rules: CacheRules())
      let explanation = CacheExplanation.reuse(
        request, among: [CacheExplanation.Candidate(stored)],
        in: CacheExplanation.Circumstances(rules: CacheRules(), now: now, digest: { _ in nil }))
      #expect(
        explanation.steps.contains {
          $0.question == "May it be used stale?" && $0.answer.contains(window.rawValue)
        })
    }
  }

  @Test("Each flag of a stored response has a bit of its own")
  func bits() {
    let marks: [ReuseFacts.Directives] = [
      .sharedByOverride, .notSharedByOrigin, .malformedSMaxAge, .malformedPrivate, .malformedMaxAge,
      .withoutSetCookie,
    ]
    let noting: [ReuseFacts.Directives] = ResponseDirective.allCases.compactMap { directive in
      if case .flag(_, .noting(let mark)) = directive.place { mark } else { nil }
    }
    let flags = ResponseDirective.allCases.compactMap(\.flag) + marks + noting
    #expect(flags.allSatisfy { $0.rawValue.nonzeroBitCount == 1 })
    #expect(Set(flags).count == flags.count)
  }

  @Test("The fuzzers' dictionary has each directive")
  func dictionary() throws {
    let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardizedFileURL
    let dictionary = try String(
      contentsOf: root.appendingPathComponent("Fuzzing/tokens.dict"), encoding: .utf8)
    let names = Set(
      dictionary.split(separator: "\n").map { line in
        line.drop { $0 != "\"" }.dropFirst().prefix { $0 != "\"" && $0 != "=" }
      })
    for directive in ResponseDirective.allCases { #expect(names.contains("\(directive.name)")) }
    for directive in RequestDirective.allCases { #expect(names.contains("\(directive.name)")) }
  }

  @Test(
    "The parser reads each request directive, and an explanation tells it",
    arguments: RequestDirective.allCases)
  func request(directive: RequestDirective) {
    let sample = directive.argument == .seconds ? "\(directive.name)=7" : "\(directive.name)"
    let found = RequestDirectives([.cacheControl: sample.uppercased()])
    #expect(found != RequestDirectives())
    #expect(found.texts == [sample])
  }
}
