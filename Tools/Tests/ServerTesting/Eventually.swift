/// Waits until a condition holds that another process or thread brings about, and that has no event. The time limit of the
/// test ends the wait.
///
/// - Parameters:
///   - isolation: the actor that `condition` runs on, by default the caller's.
///   - condition: asked a hundred times a second.
/// - Throws: what `condition` throws; `CancellationError` if the task is cancelled.
package func eventually(
  isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
  while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
}
