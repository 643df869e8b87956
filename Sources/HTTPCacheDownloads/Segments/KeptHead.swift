import HTTPCaching
import Synchronization

/// The head of the latest response of several tasks, and the URL that it came from after redirects.
final class KeptHead: Sendable {
  private let state = Mutex<(head: HTTPResponse, target: String)?>(nil)

  var value: (head: HTTPResponse, target: String)? { state.withLock { $0 } }

  func set(_ response: CacheResponse) { state.withLock { $0 = (response.head, response.finalTarget) } }
}
