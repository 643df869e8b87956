import HTTPCacheLibC
import NIOCore

/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16 octets.
  let octets: [UInt8]

  init(octets: [UInt8]) { self.octets = octets }

  /// Parses `192.0.2.1` or `2001:db8::1`; an IPv4 address that IPv6 carries (RFC 4291 §2.5.5.2) becomes the IPv4
  /// address. Nil for anything else.
  public init?(_ text: String) {
    var octets = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &octets) == 1 {
      self.octets = Array(octets[..<4])
    } else if inet_pton(AF_INET6, text, &octets) == 1 {
      self.octets = octets.starts(with: Self.mapped) ? Array(octets[12...]) : octets
    } else {
      return nil
    }
  }

  /// The address of a socket; nil for a Unix socket.
  init?(_ address: SocketAddress) {
    guard let text = address.ipAddress else { return nil }
    self.init(text)
  }

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

  /// The IPv4 address within an IPv6 address: compatible (RFC 4291 §2.5.5.1), mapped, translated
  /// (RFC 7915 §2.1), NAT64 (RFC 6052 §2.1) or 6to4 (RFC 3056 §2). Nil if there is none.
  var embeddedIPv4: IPAddress? {
    guard octets.count == 16 else { return nil }
    let last = IPAddress(octets: Array(octets[12...]))
    let translated: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0]
    let nat64: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    let compatible = [UInt8](repeating: 0, count: 12)
    for prefix in [Self.mapped, translated, nat64, compatible] where octets.starts(with: prefix) {
      return last
    }
    return octets.starts(with: [0x20, 0x02]) ? IPAddress(octets: Array(octets[2..<6])) : nil
  }

  /// The address as text for a field.
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = octets.count == 4 ? AF_INET : AF_INET6
    let isWritten = octets.withUnsafeBytes {
      inet_ntop(family, $0.baseAddress, &text, socklen_t(text.count)) != nil
    }
    guard isWritten else { return "unknown" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
