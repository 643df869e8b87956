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

  /// The reasons to go forward and the refusals that no specification has.
  private static let forwardsWithoutSection: Set<ForwardReason> = [
    .miss(.policy(.bypass)), .miss(.policy(.reload)), .miss(.storeFailed),
    .validation(.policy(.revalidate)),
  ]
  private static let refusalsWithoutSection: Set<StorageRefusal> = [
    .override, .policy, .tooLarge(limit: 1), .notAdmitted, .wiped, .upstream, .hook, .hookFailed,
    .hookTimedOut, .memoryOnly, .storeFailed,
  ]

  private func expect(_ reason: any Reason, hasSection: Bool) {
    #expect(!reason.description.isEmpty)
    let isOfSpecification = reason.section.hasPrefix("RFC ") || reason.section.hasPrefix("W3C ")
    #expect(hasSection ? isOfSpecification : reason.section.isEmpty, "\(reason): \(reason.section)")
  }

  @Test("Every reason says something, and names its section if a specification has it")
  func reasons() {
    for (reason, _) in RFC9211_CacheStatusTests.forwards {
      expect(reason, hasSection: !Self.forwardsWithoutSection.contains(reason))
    }
    for refusal in RFC9211_CacheStatusTests.refusals {
      expect(refusal, hasSection: !Self.refusalsWithoutSection.contains(refusal))
    }
    let withoutSection: [any Reason] = [
      StaleAllowance.policy(.cacheOnly), FallbackRefusal.policy(.reload), FallbackRefusal.rules,
    ]
    for reason in withoutSection { expect(reason, hasSection: false) }
    let withSection: [any Reason] = [
      StaleAllowance.maxStale, StaleAllowance.window(.staleWhileRevalidate),
      StaleAllowance.window(.staleIfError), StaleAllowance.disconnected, UnsatisfiableReason.miss(.absent),
      UnsatisfiableReason.validation(.responseNoCache), FallbackRefusal.miss(.absent),
      FallbackRefusal.authorized, FallbackRefusal.setCookie, FallbackRefusal.invalidated,
      FallbackRefusal.responseNoCache, FallbackRefusal.requestNoCache, FallbackRefusal.requestFreshness,
      FallbackRefusal.mustRevalidate, FallbackRefusal.proxyRevalidate, FallbackRefusal.sMaxAge,
      FallbackRefusal.tooStale(.seconds(2), limit: .seconds(1)), FallbackRefusal.serverError(503),
    ]
    for reason in withSection { expect(reason, hasSection: true) }
  }
}
