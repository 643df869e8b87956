/// Reports whether the system has a network connection.
public protocol ConnectivitySignal: Sendable {
  /// Asked before each request to an origin; must return quickly. If false, no request is sent, as if the
  /// origin could not be reached. When unsure, return true: only a request can tell.
  var isConnected: Bool { get }
}
