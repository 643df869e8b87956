import HTTPCacheTesting
import HTTPCaching
import Synchronization

/// A body that waits at a gate, ignores its task's cancellation, and ends there.
final class WaitingBody: BodySource {
  private let gate: Gate
  private let wasCancelled = Atomic<Bool>(false)

  init(gate: Gate) { self.gate = gate }

  var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }
  var length: Int64? { nil }
  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? {
    _ = await Task { [gate] in try await gate.pass() }.result
    return nil
  }

  func cancel() { wasCancelled.store(true, ordering: .relaxed) }
}
