package import NIOCore

/// A limit of 20 s passed before a test came to its point.
struct LimitPassed: Error {}

/// Runs a test with a short limit, and with longer ones if the limit passed before the test came to its point: a busy
/// machine may need longer for its own part.
///
/// - Parameters:
///   - isolation: the actor that `body` runs on, by default the caller's.
///   - body: returns whether the test came to its point within the limit.
/// - Throws: what `body` throws; `LimitPassed`.
package func withRisingLimits(
  isolation: isolated (any Actor)? = #isolation, _ body: (TimeAmount) async throws -> Bool
) async throws {
  for limit in [TimeAmount.milliseconds(200), .seconds(2), .seconds(20)] {
    if try await body(limit) { return }
  }
  throw LimitPassed()
}
