/// What a forward proxy does for its clients.
public struct ForwardRules: Sendable, Hashable {
  /// Hosts that may be asked: a name, `*.` and a domain for every name under it, or `*` for all; nil
  /// is every host.
  public var allowedHosts: [String]?
  /// Ports that CONNECT may tunnel to, and that requests for `https` URIs may go to.
  public var connectPorts: Set<Int>
  /// Ports that requests for `http` URIs may go to; nil is every port.
  public var httpPorts: Set<Int>?

  /// Makes rules: every host, tunnels to port 443, `http` to every port.
  public init(allowedHosts: [String]? = nil, connectPorts: Set<Int> = [443], httpPorts: Set<Int>? = nil) {
    self.allowedHosts = allowedHosts?.map { $0.lowercased() }
    self.connectPorts = connectPorts
    self.httpPorts = httpPorts
  }

  /// Whether requests for a host are let through.
  func allows(host: String) -> Bool {
    guard let allowedHosts else { return true }
    var host = Substring(host.lowercased())
    if host.last == "." { host.removeLast() }
    return allowedHosts.contains { pattern in
      if pattern == "*" { return true }
      if pattern.hasPrefix("*.") { return host.hasSuffix(pattern.dropFirst()) && host.count >= pattern.count }
      return host == pattern
    }
  }
}
