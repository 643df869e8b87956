import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession

/// A delegate that records its calls, and lets tests wait for them.
final class DelegateLog: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // @unchecked Sendable because all mutable state is in `state`.

  struct State: Sendable {
    var responses: [URLResponse] = []
    var pieces: [Data] = []
    var isComplete = false
    var error: (any Error)?

    var data: Data { Data(pieces.joined()) }
  }

  private let state = WatchedState(State())
  private let onResponse: @Sendable (URLSessionDataTask) -> Void

  init(onResponse: @escaping @Sendable (URLSessionDataTask) -> Void = { _ in }) {
    self.onResponse = onResponse
  }

  var now: State { state.withLock { $0 } }

  func wait(until isThere: @escaping @Sendable (State) -> Bool) async {
    await state.wait(until: isThere)
  }

  private func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    onResponse(dataTask)
    completionHandler(.allow)
    change { $0.responses.append(response) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    change { $0.pieces.append(data) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    change { state in
      state.isComplete = true
      state.error = error
    }
  }
}
