/// Why the origin was not asked, and counts as unreachable; the cause of the `UpstreamError`.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum OfflineReason: Error, Sendable, Hashable, CustomStringConvertible {
  /// `HTTPCache.isOffline` is set.
  case forced
  /// The `ConnectivitySignal` says that there is no connection.
  case notConnected

  /// A few words for people.
  public var description: String {
    switch self {
    case .forced: "the cache is set to be offline"
    case .notConnected: "there is no connection"
    }
  }
}

/// Reports whether the system has a network connection.
public protocol ConnectivitySignal: Sendable {
  /// Asked before each request to an origin; must return quickly. If false, no request is sent, as if the
  /// origin could not be reached. When unsure, return true: only a request can tell.
  var isConnected: Bool { get }
}
