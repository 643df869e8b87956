package import HTTPCacheStore
package import HTTPTypes
import Synchronization

/// A body whose reading is watched.
package final class ObservedBody: BodySource {
  private struct State {
    var total: Int64 = 0
    var ended: (@Sendable (_ total: Int64) -> Void)?
  }

  private let base: any BodySource
  private let willRead: @Sendable () async throws -> Void
  private let received: @Sendable (_ count: Int64, _ total: Int64) -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - willRead: called before each piece is asked for.
  ///   - ended: called once with the bytes of the body so far, when it has ended, failed, or been cancelled or dropped.
  ///   - received: called with the bytes of each piece, and of the body so far.
  package init(
    _ body: MessageBody, willRead: @escaping @Sendable () async throws -> Void = {},
    ended: @escaping @Sendable (_ total: Int64) -> Void = { _ in },
    received: @escaping @Sendable (_ count: Int64, _ total: Int64) -> Void
  ) {
    base = body.source
    (self.willRead, self.received) = (willRead, received)
    state = Mutex(State(ended: ended))
  }

  deinit { cancel() }

  package var length: Int64? { base.length }
  package var trailers: HTTPFields { base.trailers }

  package func next() async throws -> BodyBytes? {
    do {
      try await willRead()
      if let bytes = try await base.next() {
        let count = Int64(bytes.count)
        let total = state.withLock { state in
          state.total += count
          return state.total
        }
        received(count, total)
        return bytes
      }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  package func cancel() {
    base.cancel()
    end()
  }

  private func end() {
    let (total, ended) = state.withLock { ($0.total, $0.ended.take()) }
    ended?(total)
  }
}
