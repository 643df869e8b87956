import HTTPCacheTesting
import HTTPCaching
import Synchronization

/// A body that gives its first bytes, waits at a gate, ignores its task's cancellation, and ends there.
final class WaitingBody: BodySource {
  private let first: Mutex<BodyBytes?>
  private let gate: Gate
  private let wasCancelled = Atomic<Bool>(false)
  let length: Int64?

  init(_ first: [UInt8]? = nil, length: Int64? = nil, gate: Gate) {
    self.first = Mutex(first.map { BodyBytes($0) })
    self.gate = gate
    self.length = length
  }

  var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }
  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? {
    if let bytes = first.withLock({ $0.take() }) { return bytes }
    _ = await Task { [gate] in try await gate.pass() }.result
    return nil
  }

  func cancel() { wasCancelled.store(true, ordering: .relaxed) }
}
