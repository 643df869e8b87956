/// What a forward proxy does for its clients.
public struct ForwardRules: Sendable, Hashable {
  /// Hosts that may be asked: a name, `*.` and a domain for every name under it, or `*` for all; nil
  /// is every host.
  public var allowedHosts: [String]?
  /// Ports that CONNECT may tunnel to.
  public var connectPorts: Set<Int>

  /// Makes rules: every host, tunnels to port 443.
  public init(allowedHosts: [String]? = nil, connectPorts: Set<Int> = [443]) {
    self.allowedHosts = allowedHosts?.map { $0.lowercased() }
    self.connectPorts = connectPorts
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
