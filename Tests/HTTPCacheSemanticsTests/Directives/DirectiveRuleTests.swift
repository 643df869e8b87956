import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

/// Each directive has a rule that reads it: in some situation a cache decides otherwise because of it.
@Suite(.timeLimit(.minutes(10))) struct DirectiveRuleTests {
  /// The decisions about one response.
  private struct Decisions: Equatable {
    var storage: [StorageDecision] = []
    var reuse: [ReuseDecision] = []
    var fallback: [FailureFallback] = []
  }

  private static let policies: [CachePolicy] = [.standard, .revalidate, .cacheElseNetwork]

  /// The decisions about responses to several requests, in both modes, while fresh and while stale.
  private func decisions(response value: String, request: String = "unknown") throws -> Decisions {
    var result = Decisions()
    for rules in [privateRules, sharedRules] {
      for authorization in [[:], ["Authorization": "Basic x"]] as [KeyValuePairs<String, String>] {
        var first = try get(authorization)
        first.headerFields[.cacheControl] = request
        for status in [200, 299] {
          result.storage.append(
            try storing(status, ["Cache-Control": value], to: first, rules: rules))
        }
        let stored = try stored(200, ["Cache-Control": value], to: first, rules: rules)
        for age in [1, 5, 12] as [Int64] {
          for policy in Self.policies {
            result.reuse.append(
              try decide(stored, after: age, ["Cache-Control": request], policy: policy, rules: rules))
          }
          for failure in [.unreachable, .status(500)] as [FailureKind] {
            result.fallback.append(
              try fallback(stored, after: age, failure, ["Cache-Control": request], rules: rules))
          }
        }
      }
    }
    return result
  }

  private func sample(_ directive: ResponseDirective) -> String {
    directive.argument == .seconds ? "\(directive.name)=7" : "\(directive.name)"
  }

  @Test(
    "Each response directive changes a decision, but one about what the cache never does",
    arguments: ResponseDirective.allCases)
  func response(directive: ResponseDirective) throws {
    let isChanged = try ["unknown", "max-age=10", "no-store"].contains { others in
      try decisions(response: "\(others), \(sample(directive))") != decisions(response: others)
    }
    #expect(isChanged == (directive != .noTransform))
  }

  @Test(
    "Each request directive changes a decision, but one about what the cache never does",
    arguments: RequestDirective.allCases)
  func request(directive: RequestDirective) throws {
    let sample = directive.argument == .seconds ? "\(directive.name)=2" : "\(directive.name)"
    let isChanged =
      try decisions(response: "max-age=10", request: sample) != decisions(response: "max-age=10")
    #expect(isChanged == (directive != .noTransform))
  }

  @Test(
    "A stale response is used in a window: after a failure or at once, and only if the rules say so",
    arguments: ReuseWindow.allCases)
  func window(window: ReuseWindow) throws {
    let noWindows = CacheRules(
      allowsStaleWhileRevalidate: false, allowsStaleIfError: false, allowsStaleWhenDisconnected: false)
    for rules in [privateRules, noWindows] {
      #expect(window.isObeyed(by: rules) == (rules == privateRules))
      let stored = try stored(200, ["Cache-Control": "max-age=10, \(window.rawValue)=7"], rules: rules)
      for (age, isInWindow) in [(12, true), (20, false)] as [(Int64, Bool)] {
        let allowance: StaleAllowance? =
          if case .stale(let allowance, _, _) = try decide(stored, after: age, rules: rules) {
            allowance
          } else if case .useStale(let allowance) = try fallback(
            stored, after: age, .status(500), rules: rules)
          {
            allowance
          } else {
            nil
          }
        let isUsed = isInWindow && window.isObeyed(by: rules)
        #expect(allowance == (isUsed ? .window(window) : nil))
        let isUsedAtOnce = try decide(stored, after: age, rules: rules).isAnswered
        #expect(isUsedAtOnce == (isUsed && !window.isAfterFailure))
      }
    }
  }
}

extension ReuseDecision {
  /// Whether the stored response answers, without a word of the origin.
  fileprivate var isAnswered: Bool {
    switch self {
    case .fresh, .stale: true
    case .validate, .miss, .unsatisfiable: false
    }
  }
}
