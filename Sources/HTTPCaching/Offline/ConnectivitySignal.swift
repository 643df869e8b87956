/// Says whether there is any way to the origins, as the system knows it.
public protocol ConnectivitySignal: Sendable {
  /// Asked before each request to an origin; must return quickly. False: no request is made, as if the
  /// origin could not be reached. A signal that is not sure says true, since only a request tells.
  var isConnected: Bool { get }
}
