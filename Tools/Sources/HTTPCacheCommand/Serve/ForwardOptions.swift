import ArgumentParser
import HTTPCacheProxy

/// The options of `serve --forward`.
struct ForwardOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A host that clients may request: name, *.domain or *. Required if other machines can reach the listener. May be repeated.",
      valueName: "host"))
  var allow: [String] = []

  @Option(
    help: ArgumentHelp(
      "A port for CONNECT tunnels and https URIs. May be repeated. (default: 443)", valueName: "port"))
  var connectPort: [Int] = []

  @Option(
    help: ArgumentHelp(
      "A port for http URIs. May be repeated. (default: 80 on a listener that other machines can reach, else every port)",
      valueName: "port"))
  var httpPort: [Int] = []

  @Option(
    help: ArgumentHelp(
      "Addresses, such as 10.0.0.0/8, to connect to though they are not public. On a listener that other machines can reach, clients otherwise get no loopback, private, link-local or multicast address. May be repeated.",
      valueName: "cidr"), transform: AddressRange.parsed)
  var allowAddress: [AddressRange] = []

  /// The name of a given option that is only for `--forward`; nil if there is none.
  var used: String? {
    if !allow.isEmpty { return "--allow" }
    if !connectPort.isEmpty { return "--connect-port" }
    if !httpPort.isEmpty { return "--http-port" }
    return allowAddress.isEmpty ? nil : "--allow-address"
  }

  /// The hosts and ports that clients may request.
  func rules(isRemote: Bool) -> ForwardRules {
    ForwardRules(
      allowedHosts: allow.isEmpty ? nil : allow,
      connectPorts: connectPort.isEmpty ? [443] : Set(connectPort),
      httpPorts: httpPort.isEmpty ? (isRemote ? [80] : nil) : Set(httpPort))
  }

  /// The addresses that may be connected to; nil is every address.
  func addressRules(isRemote: Bool) -> AddressRules? {
    isRemote || !allowAddress.isEmpty ? AddressRules(allowed: allowAddress) : nil
  }

  func validate() throws {
    for (option, ports) in [("--connect-port", connectPort), ("--http-port", httpPort)] {
      for port in ports where !(1...65535).contains(port) {
        throw ValidationError("\(option) must be between 1 and 65535 (got \(port)).")
      }
    }
  }
}
