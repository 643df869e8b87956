import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What `CachedURLSession` tells its upstream of a request, through the engine.
final class RequestContext: Sendable {
  /// The request as the caller made it, for what HTTP does not say: network service type, cellular
  /// access, timeout.
  let prototype: URLRequest
  /// Who is asked about challenges: the task's own, then the session's.
  let delegates: [any URLSessionDelegate]
  /// Whether the cache serves many users, who must not share what one's credentials opened.
  let isShared: Bool

  init(prototype: URLRequest, delegates: [any URLSessionDelegate], isShared: Bool) {
    self.prototype = prototype
    self.delegates = delegates
    self.isShared = isShared
  }
}
