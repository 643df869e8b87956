import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension HTTPCache {
  /// Whether the cache works without its origins: from the next request on, also for background validation,
  /// each origin counts as unreachable (RFC 9111 §4.2.4), and a request with an unsafe method fails. False at
  /// first. Running requests continue.
  public var isOffline: Bool {
    get { forcedOffline.load(ordering: .relaxed) }
    set { forcedOffline.store(newValue, ordering: .relaxed) }
  }

  /// Why no origin may be asked now; nil if it may.
  var offlineReason: OfflineReason? {
    if isOffline { return .forced }
    guard let connectivity = configuration.connectivity, !connectivity.isConnected else { return nil }
    return .notConnected
  }

  /// Tells the observer that an origin was not asked.
  ///
  /// - Returns: the error of the request.
  func notAsked(_ target: String, _ reason: OfflineReason) -> UpstreamError {
    observe(.notAsked(target: target, reason))
    return UpstreamError(.unreachable, reason.description, cause: reason)
  }
}
