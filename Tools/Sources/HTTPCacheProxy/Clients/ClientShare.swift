import Synchronization

/// The share of one client: its connections, and the exchanges on them. An exchange is a request that is not
/// answered at once from memory, until its answer has left; a tunnel is one too.
final class ClientShare: Sendable {
  let client: ClientAddress
  let exchanges: BoundedCount

  /// - Parameter limit: maximum number of exchanges.
  init(of client: ClientAddress, limit: Int) {
    self.client = client
    exchanges = BoundedCount(limit: limit)
  }
}

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

/// A number that does not exceed a limit, without a lock.
package final class BoundedCount: Sendable {
  private let limit: Int
  private let count = Atomic<Int>(0)

  package init(limit: Int) { self.limit = limit }

  /// Adds one.
  ///
  /// - Returns: false if the limit is reached.
  package func add() -> Bool {
    guard count.add(1, ordering: .relaxed).newValue > limit else { return true }
    subtract()
    return false
  }

  /// Subtracts one that was added.
  package func subtract() { count.subtract(1, ordering: .relaxed) }
}
