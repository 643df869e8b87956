import HTTPCaching
import HTTPTypes
import Synchronization

/// A body whose reading is watched.
final class ObservedBody: BodySource {
  private let base: any BodySource
  private let total = Mutex<Int64>(0)
  private let willRead: @Sendable () async throws -> Void
  private let received: @Sendable (_ count: Int64, _ total: Int64) -> Void
  private let ended: @Sendable () -> Void

  /// - Parameters:
  ///   - willRead: called before each piece is asked for.
  ///   - received: called with the bytes of each piece, and of the body so far.
  ///   - ended: called when the body has ended, failed or been cancelled; may be called again.
  init(
    _ body: MessageBody, willRead: @escaping @Sendable () async throws -> Void = {},
    ended: @escaping @Sendable () -> Void = {},
    received: @escaping @Sendable (_ count: Int64, _ total: Int64) -> Void
  ) {
    base = body.source
    (self.willRead, self.received, self.ended) = (willRead, received, ended)
  }

  var length: Int64? { base.length }
  var trailers: HTTPFields { base.trailers }

  func next() async throws -> BodyBytes? {
    do {
      try await willRead()
      if let bytes = try await base.next() {
        let count = Int64(bytes.count)
        let sum = total.withLock { total in
          total += count
          return total
        }
        received(count, sum)
        return bytes
      }
    } catch {
      ended()
      throw error
    }
    ended()
    return nil
  }

  func cancel() {
    base.cancel()
    ended()
  }
}
