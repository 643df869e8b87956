import HTTPCaching
import HTTPTypes

/// A task that Foundation loads itself although our protocol was chosen: on Linux a protocol is not asked
/// about tasks, and sees neither the file of a download task nor the body of an upload task.
final class PassedOnLoad: @unchecked Sendable {
  // @unchecked Sendable because it is only used where the protocol is started and stopped.
  private let native: URLProtocol

  /// Nil if no other protocol class of the session takes the request.
  init?(_ loader: CachingURLProtocol, _ task: URLSessionTask, in session: URLSession?) {
    let classes = session?.configuration.protocolClasses ?? []
    let others = classes + (URLSessionConfiguration.default.protocolClasses ?? [])
    let candidates = others.compactMap { $0 as? URLProtocol.Type }
    guard
      let type = candidates.first(where: {
        !($0 is CachingURLProtocol.Type) && $0.canInit(with: loader.request)
      }), let client = loader.client
    else { return nil }
    let watching = CachedLoading.of(Swift.type(of: loader)).map {
      WatchingClient(client, request: loader.request, cache: $0.session.cache)
    }
    native = type.init(task: task, cachedResponse: nil, client: watching ?? client)
  }

  func start() { native.startLoading() }

  func stop() { native.stopLoading() }
}
