/// The hosts and ports that a forward proxy allows.
public struct ForwardRules: Sendable, Hashable {
  /// Allowed hosts: a name, `*.` and a domain for every name under it, or `*` for all; nil allows every host.
  public var allowedHosts: [String]?
  /// Allowed ports of CONNECT and of requests for `https` URIs.
  public var connectPorts: Set<Int>
  /// Allowed ports of requests for `http` URIs; nil allows every port.
  public var httpPorts: Set<Int>?

  /// Makes rules: every host, tunnels to port 443, `http` to every port.
  public init(allowedHosts: [String]? = nil, connectPorts: Set<Int> = [443], httpPorts: Set<Int>? = nil) {
    self.allowedHosts = allowedHosts?.map { $0.lowercased() }
    self.connectPorts = connectPorts
    self.httpPorts = httpPorts
  }

  /// Whether requests for a host are allowed.
  func allows(host: String) -> Bool {
    guard let allowedHosts else { return true }
    let host = host.lowercased()
    return allowedHosts.contains { $0 == "*" || GatewayRoute.isHost(host, of: $0) }
  }
}
