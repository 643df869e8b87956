import HTTPCacheStore
import HTTPTypes
import Synchronization

/// The origin's body, passed on without storing. Reports at its end how the body ended.
final class ForwardedBodySource: BodySource {
  private struct State {
    var bytes: Int64 = 0
    var onEnd: (@Sendable (_ bytes: Int64) -> Void)?
  }

  private let body: MessageBody
  private let state: Mutex<State>

  init(_ body: MessageBody, onEnd: @escaping @Sendable (_ bytes: Int64) -> Void) {
    self.body = body
    state = Mutex(State(onEnd: onEnd))
  }

  deinit { cancel() }

  var length: Int64? { body.length }
  var trailers: HTTPFields { body.trailers }

  func next() async throws -> BodyBytes? {
    let bytes: BodyBytes?
    do {
      bytes = try await body.source.next()
    } catch {
      finish()
      throw error
    }
    guard let bytes else {
      finish()
      return nil
    }
    state.withLock { $0.bytes += Int64(bytes.count) }
    return bytes
  }

  func cancel() {
    body.source.cancel()
    finish()
  }

  private func finish() {
    let (bytes, onEnd) = state.withLock { ($0.bytes, $0.onEnd.take()) }
    onEnd?(bytes)
  }
}
