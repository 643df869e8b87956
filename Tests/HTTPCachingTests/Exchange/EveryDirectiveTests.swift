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
  /// The part of a directive that the facts of a stored response keep.
  private enum Kept {
    case nothing
    case lifetime
    case text(String)
  }

  private func kept(_ directive: ResponseDirective) -> Kept {
    switch directive {
    case .noStore, .noTransform: .nothing
    case .maxAge: .lifetime
    case .noCache, .private, .sMaxAge, .mustRevalidate, .proxyRevalidate, .immutable, .public,
      .mustUnderstand:
      .text("\(directive.name)")
    case .staleWhileRevalidate, .staleIfError: .text("\(directive.name)=7")
    }
  }

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
    switch kept(directive) {
    case .nothing: #expect(facts.directiveTexts.isEmpty)
    case .lifetime: #expect(facts.directiveTexts.isEmpty && facts.freshnessLifetime == 7)
    case .text(let text): #expect(facts.directiveTexts == [text])
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

  @Test("Overrides ignore and add the directives that they say", arguments: ResponseDirective.allCases)
  func overrides(directive: ResponseDirective) {
    if let ignored = directive.ignored {
      #expect(ignored.rawValue == "\(directive.name)")
      let seen = ResponseDirectives(of: response(sample(directive)), rules: rules(.ignoring([ignored])))
      #expect(seen == ResponseDirectives())
    }
    if let added = directive.added {
      #expect(added.rawValue == "\(directive.name)")
      let seen = ResponseDirectives(of: response("x"), rules: rules(.adding([added])))
      #expect(seen.texts == ["\(directive.name)"])
    }
  }

  /// The directives with seconds that allow stale use.
  private var windows: [ResponseDirective] {
    ResponseDirective.allCases.filter { directive in
      switch kept(directive) {
      case .text: directive.argument == .seconds && directive != .sMaxAge
      case .nothing, .lifetime: false
      }
    }
  }

  @Test("A response that may be used stale is storable without a validator; its explanation says how long")
  func staleWindows() {
    #expect(windows.contains(.staleIfError) && windows.contains(.staleWhileRevalidate))
    for directive in windows {
      let response = response("public, \(sample(directive))")
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
          $0.question == "What does it say of its use once stale?" && $0.answer.contains("\(directive.name)")
        })
    }
  }

  @Test("Each flag of a stored response has a bit of its own")
  func bits() {
    let marks: [ReuseFacts.Directives] = [
      .sharedByOverride, .notSharedByOrigin, .malformedMustRevalidate, .malformedSMaxAge,
      .malformedMustUnderstand, .malformedPrivate, .malformedMaxAge,
    ]
    let flags = ResponseDirective.allCases.compactMap(\.flag) + marks
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

  @Test("Each part of an override that ignores or adds a directive has one")
  func overrideParts() {
    let ignored = Set(ResponseDirective.allCases.compactMap(\.ignored))
    #expect(ignored.union([.expires]) == Set(RuleEffect.Ignored.allCases))
    #expect(Set(ResponseDirective.allCases.compactMap(\.added)) == Set(RuleEffect.Added.allCases))
  }

  @Test(
    "The parser reads each request directive, and an explanation tells it",
    arguments: RequestDirective.allCases)
  func request(directive: RequestDirective) {
    let sample =
      switch directive {
      case .noCache, .noStore, .onlyIfCached, .noTransform: "\(directive.name)"
      case .maxAge, .minFresh, .maxStale, .staleIfError: "\(directive.name)=7"
      }
    let found = RequestDirectives([.cacheControl: sample.uppercased()])
    #expect(found != RequestDirectives())
    #expect(found.texts == [sample])
  }
}
