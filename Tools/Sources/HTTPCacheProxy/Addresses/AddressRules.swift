/// The addresses that a forward proxy may connect to.
///
/// A client names a host, and the name server of that host's owner chooses the address: perhaps `127.0.0.1`, or an
/// address within the proxy's own network. So the proxy checks addresses, after it has resolved the name.
public struct AddressRules: Sendable, Hashable {
  /// Allowed addresses that are not public.
  public var allowed: [AddressRange]

  /// Makes rules: public addresses, and those in `allowed`.
  public init(allowed: [AddressRange] = []) { self.allowed = allowed }

  /// The special-purpose addresses of RFC 6890 and its registries, multicast (RFC 5771, RFC 4291 §2.7), and
  /// prefixes that hide an address (Teredo, local NAT64).
  private static let special = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128", "64:ff9b:1::/48", "100::/64",
    "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
  ].compactMap { AddressRange($0) }

  /// Whether the proxy may connect to an address.
  func allows(_ address: IPAddress) -> Bool {
    let reached = [address, address.embeddedIPv4].compactMap { $0 }
    if allowed.contains(where: { range in reached.contains { range.contains($0) } }) { return true }
    return !Self.special.contains { range in reached.contains { range.contains($0) } }
  }
}

/// The cause of the error if a host has no allowed address.
struct ForbiddenAddress: Error, CustomStringConvertible {
  let address: String

  var description: String { "\(address) is not a public address (--allow-address)" }
}
