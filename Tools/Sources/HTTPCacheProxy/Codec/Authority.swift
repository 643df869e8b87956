/// A host and perhaps a port (RFC 3986 §3.2), without user information.
package struct Authority: Sendable, Hashable {
  /// Lower-cased; an IPv6 address without its brackets.
  let host: String
  /// The port; nil if there is none.
  let port: Int?

  init(host: String, port: Int?) {
    self.host = host.lowercased()
    self.port = port
  }

  /// Parses `host`, `host:port`, `[address]` or `[address]:port`; nil for anything else.
  init?(_ text: String) {
    var rest = Substring(text)
    let host: Substring
    if rest.utf8.first == 0x5B {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = rest[rest.index(after: rest.startIndex)..<end]
      guard host.contains(":"), host.allSatisfy({ $0.isASCII && $0.isHexDigit || $0 == ":" || $0 == "." })
      else {
        return nil
      }
      rest = rest[rest.index(after: end)...]
    } else {
      let end = rest.utf8.firstIndex(of: 0x3A) ?? rest.endIndex
      host = rest[..<end]
      guard host.utf8.allSatisfy(Self.isHostByte) else { return nil }
      rest = rest[end...]
    }
    guard !host.isEmpty, host.utf8.count <= 255 else { return nil }
    self.host = host.lowercased()
    if rest.isEmpty || rest == ":" {
      port = nil
      return
    }
    let digits = rest.dropFirst()
    guard rest.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(digits), (1...65535).contains(number)
    else { return nil }
    port = number
  }

  /// Where the authority of a URI reference is (RFC 3986 §4.2); nil for a reference without one. A query may have another
  /// URL with an authority.
  package static func range<Octets: Collection<UInt8>>(in reference: Octets) -> Range<Octets.Index>? {
    let scheme = reference.prefix {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
      default: false
      }
    }
    var rest = reference[scheme.endIndex...]
    if !scheme.isEmpty {
      guard rest.first == UInt8(ascii: ":") else { return nil }
      rest = rest.dropFirst()
    }
    guard rest.starts(with: "//".utf8) else { return nil }
    rest = rest.dropFirst(2)
    return rest.startIndex..<(rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25, 0x21, 0x24, 0x26...0x2C, 0x3B,
      0x3D:
      true
    default: false
    }
  }

  /// The host as text for a URI.
  var hostText: String { host.utf8.contains(0x3A) ? "[\(host)]" : host }

  /// The authority as text for a URI, without the scheme's default port.
  func text(defaultPort: Int) -> String {
    guard let port, port != defaultPort else { return hostText }
    return "\(hostText):\(port)"
  }

  /// Whether the host is this machine.
  var isLoopback: Bool {
    host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.split(separator: ".").count == 4)
  }
}
