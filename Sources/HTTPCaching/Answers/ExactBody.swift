package import HTTPCacheStore
package import HTTPTypes
import Synchronization

/// A body of a known length, which ends with an error at another length.
package final class ExactBody: BodySource {
  private struct State {
    var received: Int64 = 0
    var isCancelled = false
  }

  private let base: any BodySource
  private let expected: Int64
  private let isPart: Bool
  private let state = Mutex(State())

  /// - Parameters:
  ///   - length: the length in bytes that the body must have.
  ///   - isPart: whether the body has a part of a representation. Its `Content-Range` then announces the length, so that a
  ///     body that ends early has broken off. A whole body that announces no length does not break off where it ends:
  ///     it contradicts its validator.
  package init(_ body: MessageBody, length: Int64, isPart: Bool = false) {
    base = body.source
    expected = length
    self.isPart = isPart
  }

  package var length: Int64? { expected }
  package var trailers: HTTPFields { base.trailers }

  package func next() async throws -> BodyBytes? {
    guard let bytes = try await base.next() else {
      // A cancelled source may end as if it were complete.
      try Task.checkCancellation()
      let (received, isCancelled) = state.withLock { ($0.received, $0.isCancelled) }
      if isCancelled { throw CancellationError() }
      if received == expected { return nil }
      throw early(received)
    }
    let received = state.withLock { state in
      state.received += Int64(bytes.count)
      return state.received
    }
    guard received <= expected else {
      base.cancel()
      throw contradiction(
        isPart
          ? "the origin sends more than the \(expected) bytes of its Content-Range"
          : "the origin sends more than \(expected) bytes under the validator of \(expected) bytes")
    }
    return bytes
  }

  private func early(_ received: Int64) -> UpstreamError {
    if !isPart {
      return contradiction("the origin sends \(received) bytes under the validator of \(expected) bytes")
    }
    // A request for the rest would bring nothing again.
    if received == 0 {
      return contradiction("the origin sends none of the \(expected) bytes of its Content-Range")
    }
    return UpstreamError(.protocol, "the body ended at byte \(received) of \(expected)")
  }

  private func contradiction(_ text: String) -> UpstreamError {
    LengthContradiction(length: expected).error(text)
  }

  package func cancel() {
    state.withLock { $0.isCancelled = true }
    base.cancel()
  }
}
