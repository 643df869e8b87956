import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension HTTPCache {
  /// Whether the cache is to do without its origins: each counts as unreachable (RFC 9111 §4.2.4) from
  /// the next request on, for validation in the background too. A request with an unsafe method then
  /// fails. False at first. What is on its way goes on.
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

  /// Tells that an origin was not asked.
  ///
  /// - Returns: the error that stands for it.
  func notAsked(_ target: String, _ reason: OfflineReason) -> UpstreamError {
    observe(.notAsked(target: target, reason))
    return UpstreamError(.unreachable, reason.description, cause: reason)
  }
}
