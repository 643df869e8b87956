import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

@Suite("Errors that a field of the request may have caused", .timeLimit(.minutes(10)))
struct RFC9110_15_5_ClientErrorTests {
  private let careful = CacheRules(mode: .shared, refusesClientErrors: true)
  private let fields: KeyValuePairs = ["Cache-Control": "public, max-age=60"]

  @Test(
    "RFC 9110 §15.5 The switch keeps errors of fields out of the store; without it a lifetime is obeyed (RFC 9111 §3)",
    arguments: [400, 401, 403, 405, 406, 408, 411, 413, 414, 415, 417, 421, 422, 426, 499, 501])
  func refused(code: Int) throws {
    #expect(try storing(code, fields, rules: careful) == .doNotStore(.clientError(code)))
    #expect(
      try storing(code, fields, rules: CacheRules(refusesClientErrors: true))
        == .doNotStore(.clientError(code)))
    #expect(try storing(code, fields, rules: sharedRules) == .store)
    // An error that was stored before is not used.
    let kept = try stored(code, fields, rules: sharedRules)
    #expect(
      try decide(kept, after: 1, rules: sharedRules) == .fresh(age: .seconds(1), lifetime: .seconds(60)))
    #expect(try decide(kept, after: 1, rules: careful) == .miss(.absent))
    #expect(try fallback(kept, after: 90, rules: careful) == .fail(.miss(.absent)))
  }

  @Test(
    "RFC 9110 §15.5.5, §15.5.11 What is said about the target is stored",
    arguments: [200, 301, 404, 410, 500, 503])
  func allowed(code: Int) throws { #expect(try storing(code, fields, rules: careful) == .store) }

  @Test("RFC 9110 §15.5 The explanation names the status and the section")
  func explained() throws {
    let explanation = CacheExplanation.storage(
      request: try get(), response: try response(400, fields), rules: careful, now: today)
    #expect(
      explanation.steps.last?.description
        == "Is it stored? no: status 400, which a field of the request may have caused (RFC 9110 §15.5)")
  }
}
