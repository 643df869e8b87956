/// Waits until a condition holds that other tasks or threads bring about, and that has no event. The time limit of the test
/// ends the wait.
///
/// - Parameters:
///   - isolation: the actor that `condition` runs on, by default the caller's.
///   - condition: asked again and again.
/// - Throws: what `condition` throws; `CancellationError` if the task is cancelled.
package func until(
  isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
  var attempt = 0
  while try await !condition() {
    try Task.checkCancellation()
    // Most conditions hold soon. A sleep leaves the processor to the threads that bring the others about.
    if attempt < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
    attempt += 1
  }
}
