import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A port of 127.0.0.1 where nothing listens: connections are refused.
///
/// The port is bound for as long as this object lives, so that no test that runs meanwhile gets the same port.
package final class UnusedPort: Sendable {
  /// The port.
  package let number: Int
  private let descriptor: Int32

  package init() throws {
    #if canImport(Glibc)
      let type = Int32(SOCK_STREAM.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    descriptor = socket(AF_INET, type, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    number = Int(in_port_t(bigEndian: address.sin_port))
    guard isBound else { throw IOError(errnoCode: errno, reason: "bind") }
  }

  deinit { close(descriptor) }

  /// Its URL without a path, such as `http://127.0.0.1:50123`.
  package var base: String { "http://127.0.0.1:\(number)" }
}
