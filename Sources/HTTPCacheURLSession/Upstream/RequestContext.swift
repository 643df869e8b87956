import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The information that `CachedURLSession` passes to its upstream through the engine.
final class RequestContext: Sendable {
  /// The caller's request, for settings outside HTTP: network service type, cellular access, timeout.
  let prototype: URLRequest
  /// The delegates that are asked about challenges: the task's, then the session's.
  let delegates: [any URLSessionDelegate]
  /// Whether the cache serves many users: they must not share responses that one user's credentials opened.
  let isShared: Bool

  init(prototype: URLRequest, delegates: [any URLSessionDelegate], isShared: Bool) {
    self.prototype = prototype
    self.delegates = delegates
    self.isShared = isShared
  }
}
