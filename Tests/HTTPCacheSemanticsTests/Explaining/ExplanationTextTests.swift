import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("The text of explanations", .timeLimit(.minutes(10))) struct ExplanationTextTests {
  @Test("Earlier refusals are printed below, the latest first, with time, status and reason")
  func refusals() throws {
    var explanation = CacheExplanation(steps: [.init("What is done?", "forward", section: "")])
    explanation.refusals = [
      .init(
        time: today, status: 200,
        steps: [
          .init("Is the status final?", "yes: 200", section: "RFC 9111 §3"),
          .init("Is it stored?", "no: no-store", section: "RFC 9111 §5.2.2.5"),
        ]),
      .init(time: today.adding(-60), status: 404, steps: []),
    ]
    #expect(
      explanation.description == """
        What is done? forward
        Last time it was not stored: Fri, 06 Nov 2020 12:00:00 GMT, status 200, no: no-store \
        (RFC 9111 §5.2.2.5)
          Is the status final? yes: 200 (RFC 9111 §3)
        Before that: Fri, 06 Nov 2020 11:59:00 GMT, status 404
        """)
  }

  @Test("Values are shown bounded and without control characters")
  func excerpts() throws {
    let kept = try stored(
      200,
      ["Cache-Control": "max-age=600", "ETag": "\"\u{1B}[2J\(String(repeating: "x", count: 9_000))\""])
    let text = CacheExplanationTests.explained([kept], try get()).description
    #expect(!text.contains("\u{1B}"))
    #expect(text.utf8.count < 4_000)
  }

  @Test("Every reason says something, and names its section unless a setting decided")
  func reasons() throws {
    let foo = try #require(HTTPField.Name("Foo"))
    let settings: [any Reason] = [
      MissReason.policy(.reload), MissReason.storeFailed, ValidationReason.policy(.revalidate),
      StaleAllowance.policy(.cacheOnly), FallbackRefusal.policy(.reload), FallbackRefusal.rules,
      StorageRefusal.hook, StorageRefusal.tooLarge(limit: 1),
    ]
    for reason in settings {
      #expect(!reason.description.isEmpty)
      #expect(reason.section.isEmpty)
    }
    let rules: [any Reason] = [
      MissReason.absent, MissReason.variantMismatch([foo]), MissReason.method(.put),
      MissReason.precondition(.ifMatch), MissReason.partial,
      ValidationReason.stale(age: .seconds(1), lifetime: .seconds(1)), ValidationReason.responseNoCache,
      ValidationReason.requestNoCache, ValidationReason.pragmaNoCache,
      ValidationReason.requestMaxAge(.seconds(1), age: .seconds(2)),
      ValidationReason.requestMinFresh(.seconds(1), remaining: .seconds(0)),
      ValidationReason.guessWithCredentials, ValidationReason.invalidated,
      ValidationReason.variantMismatch([foo]),
      FallbackRefusal.setCookie, MissReason.content(.undefinedSemantics(.head)), StaleAllowance.maxStale,
      StaleAllowance.window(.staleWhileRevalidate),
      StaleAllowance.window(.staleIfError), StaleAllowance.disconnected, UnsatisfiableReason.miss(.absent),
      UnsatisfiableReason.validation(.responseNoCache), ForwardReason.miss(.absent),
      FallbackRefusal.mustRevalidate, FallbackRefusal.tooStale(.seconds(2), limit: .seconds(1)),
      FallbackRefusal.serverError(503), FallbackRefusal.requestFreshness,
    ]
    for reason in rules {
      #expect(!reason.description.isEmpty)
      #expect(reason.section.hasPrefix("RFC "))
    }
  }
}
