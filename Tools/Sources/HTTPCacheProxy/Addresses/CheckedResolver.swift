import HTTPCacheLibC
import NIOCore
import NIOPosix

/// The cause of the error when a host name does not resolve.
struct UnresolvedHost: Error {}

/// Resolves one host with `getaddrinfo`, and returns only the allowed addresses. So the proxy connects to an address
/// that was checked, and does not resolve the name again.
final class CheckedResolver: Resolver, Sendable {
  private let rules: AddressRules
  private let addresses: EventLoopPromise<[SocketAddress]>

  init(_ rules: AddressRules, on loop: any EventLoop) {
    self.rules = rules
    addresses = loop.makePromise()
  }

  /// Begins the threads that resolve. NIO begins them with their first use, and ends the process if it cannot: so they
  /// begin with the server, and not within a request.
  static func start() { _ = NIOThreadPool.singleton }

  /// The IPv4 addresses of the host that `initiateAAAAQuery` resolves.
  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    addresses.futureResult.map { $0.filter { $0.protocol == .inet } }
  }

  /// Resolves a host, and returns its IPv6 addresses. NIO calls this function first.
  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    NIOThreadPool.singleton.runIfActive(eventLoop: addresses.futureResult.eventLoop) { [rules] in
      try Self.resolve(host, port: port, rules: rules)
    }.cascade(to: addresses)
    return addresses.futureResult.map { $0.filter { $0.protocol == .inet6 } }
  }

  func cancelQueries() {}

  private static func resolve(_ host: String, port: Int, rules: AddressRules) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_protocol = Int32(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else { throw UnresolvedHost() }
    defer { freeaddrinfo(list) }
    var allowed: [SocketAddress] = []
    var refused: IPAddress?
    var entry = list
    while let current = entry?.pointee {
      entry = current.ai_next
      guard let address = address(current, host), let ip = IPAddress(address) else { continue }
      if rules.allows(ip) { allowed.append(address) } else { refused = ip }
    }
    if allowed.isEmpty, let refused { throw ForbiddenAddress(address: "\(refused)") }
    return allowed
  }

  private static func address(_ entry: addrinfo, _ host: String) -> SocketAddress? {
    guard let address = entry.ai_addr else { return nil }
    let bytes = UnsafeRawPointer(address)
    switch entry.ai_family {
    case AF_INET: return SocketAddress(bytes.loadUnaligned(as: sockaddr_in.self), host: host)
    case AF_INET6: return SocketAddress(bytes.loadUnaligned(as: sockaddr_in6.self), host: host)
    default: return nil
    }
  }
}
