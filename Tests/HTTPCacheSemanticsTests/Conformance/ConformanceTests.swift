import Foundation
import HTTPCacheSemantics
import Testing

/// The tests of cache-tests.fyi (http-tests/cache-tests) against the rules alone, in simulated time.
///
/// They run where `HTTP_CACHE_TESTS` names the JSON export of the suite.
@Suite(.timeLimit(.minutes(10)), .enabled(if: ProcessInfo.processInfo.environment["HTTP_CACHE_TESTS"] != nil))
struct ConformanceTests {
  /// Tests that the rules alone cannot show, or that contradict the specification.
  private static let exceptions: [String: String] = [
    "conditional-lm-fresh-no-lm": "RFC 9111 §4.3.2 compares with Date, which is later",
    "vary-normalise-lang-select": "no transformation of RFC 9111 §4.1 makes them match",
    "partial-store-partial-reuse-partial": "partial content is not stored yet",
    "partial-store-partial-reuse-partial-byterange": "partial content is not stored yet",
    "partial-store-partial-reuse-partial-absent": "the octet was never sent",
    "partial-store-partial-reuse-partial-suffix": "the octet was never sent",
    "partial-store-partial-complete": "there is no strong validator (RFC 9111 §3.4)",
  ]

  @Test(
    "Every required and optimal test that applies passes, but for those with a reason",
    arguments: CacheMode.allCases)
  func suite(mode: CacheMode) throws {
    let path = try #require(ProcessInfo.processInfo.environment["HTTP_CACHE_TESTS"])
    let suites = try JSONDecoder().decode(
      [ConformanceScript.Suite].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    var counts: [String: Int] = [:]
    for script in suites.flatMap(\.tests) where script.applies(to: mode) {
      // The client side of interim responses is the engine's.
      if script.id.hasPrefix("interim-") { continue }
      var run = ConformanceRun(script, mode: mode)
      let failure = try run.failure()
      let kind = script.kind ?? "required"
      counts["\(kind) \(failure == nil ? "passed" : "failed")", default: 0] += 1
      if kind == "check" {
        if let failure { print("\(mode) check \(script.id): \(failure)") }
      } else if let failure, Self.exceptions[script.id] == nil {
        Issue.record("\(mode) \(kind) \(script.id): \(failure)")
      } else if failure == nil, Self.exceptions[script.id] != nil {
        Issue.record("\(script.id) is an exception, but passes")
      }
    }
    print("\(mode): \(counts.sorted { $0.key < $1.key })")
  }
}
