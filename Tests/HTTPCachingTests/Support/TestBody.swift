import HTTPCacheTesting
import HTTPCaching
import Synchronization

/// A body that gives `count` pieces and may break off.
final class TestBody: BodySource {
  private let state: Mutex<(next: Int, isCancelled: Bool)>
  private let piece: BodyBytes
  private let count: Int
  private let failsAt: Int?
  private let gate: (at: Int, gate: Gate)?
  let length: Int64?
  let trailers: HTTPFields

  init(
    piece: [UInt8], count: Int, announced: Int64? = nil, failsAt: Int? = nil,
    gate: (at: Int, gate: Gate)? = nil, trailers: HTTPFields = [:]
  ) {
    self.piece = BodyBytes(piece)
    self.count = count
    self.failsAt = failsAt
    self.gate = gate
    self.trailers = trailers
    length = announced
    state = Mutex((0, false))
  }

  var given: Int { state.withLock { $0.next } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func next() async throws -> BodyBytes? {
    let (number, isCancelled) = state.withLock { state in
      defer { state.next += 1 }
      return (state.next, state.isCancelled)
    }
    if isCancelled { return nil }
    if let gate, gate.at == number { try await gate.gate.pass() }
    if number == failsAt { throw UpstreamError(.protocol, "the origin closed early") }
    return number < count ? piece : nil
  }

  func cancel() { state.withLock { $0.isCancelled = true } }
}
