#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What counts as one client: an IPv4 address, or the /64 of an IPv6 address, all of which one host may have.
struct ClientAddress: Hashable, Sendable {
  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
  private static let loopback: [UInt8] = [UInt8](repeating: 0, count: 15) + [1]

  private let octets: [UInt8]

  /// Whether the client is on this machine.
  let isLoopback: Bool

  /// - Returns: nil for what is no IP address.
  init?(_ address: String) {
    var octets = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, address, &octets) == 1 {
      self.octets = Array(octets[..<4])
      isLoopback = octets[0] == 127
    } else if inet_pton(AF_INET6, address, &octets) == 1 {
      let isIPv4 = octets.starts(with: Self.mapped)
      self.octets = Array(isIPv4 ? octets[12...] : octets[..<8])
      isLoopback = isIPv4 ? octets[12] == 127 : octets == Self.loopback
    } else {
      return nil
    }
  }
}
