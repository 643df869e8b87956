import HTTPCacheLibC
import NIOCore

/// A socket that has an address and does not listen, so that no client can connect to it: a connection that is accepted
/// before there is a server would never be answered.
final class BoundSocket {
  private let descriptor: CInt
  /// The address.
  let address: SocketAddress

  /// Binds a socket to an address of this machine, in the way in which a listener is bound.
  ///
  /// - Throws: `IOError` with the system's error; `SocketAddressError` for a host that does not resolve.
  init(_ listen: ListenAddress) throws {
    address = try SocketAddress.makeAddressResolvingHost(listen.host, port: listen.port)
    #if canImport(Glibc)
      let kind = CInt(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    descriptor = socket(address.protocol.rawValue, kind, 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    var isReused: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
    let result = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
    guard result == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
  }

  deinit { close(descriptor) }
}

extension SocketAddress {
  /// Whether two listeners cannot have these addresses at a time.
  func overlaps(_ other: SocketAddress) -> Bool {
    guard port == other.port, port != 0 else { return false }
    return ipAddress == other.ipAddress || covers(other) || other.covers(self)
  }

  /// Whether it is all addresses of the machine; those of IPv6 include those of IPv4.
  private func covers(_ other: SocketAddress) -> Bool {
    switch ipAddress {
    case "::": true
    case "0.0.0.0": other.protocol == .inet
    default: false
    }
  }
}
