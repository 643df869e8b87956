/// A client for the limit of connections: an IPv4 address, or the /64 of an IPv6 address, because one host may have all
/// addresses of a /64.
struct ClientAddress: Hashable, Sendable {
  private static let loopback: [UInt8] = [UInt8](repeating: 0, count: 15) + [1]

  private let octets: [UInt8]

  /// Whether the client is on this machine.
  let isLoopback: Bool

  init(_ address: IPAddress) {
    let isIPv4 = address.octets.count == 4
    octets = isIPv4 ? address.octets : Array(address.octets[..<8])
    isLoopback = isIPv4 ? address.octets[0] == 127 : address.octets == Self.loopback
  }
}
