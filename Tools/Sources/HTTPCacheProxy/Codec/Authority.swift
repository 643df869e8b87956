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
    var text = text
    guard let parts = text.withUTF8({ Self.parts(of: $0) }) else { return nil }
    self = parts
  }

  /// Each request has a few authorities, which are read as octets.
  private static func parts(of octets: UnsafeBufferPointer<UInt8>) -> Authority? {
    let host: Slice<UnsafeBufferPointer<UInt8>>
    var rest: Slice<UnsafeBufferPointer<UInt8>>
    if octets.first == 0x5B {
      guard let end = octets.firstIndex(of: 0x5D) else { return nil }
      (host, rest) = (octets[1..<end], octets[(end + 1)...])
      guard host.contains(0x3A), host.allSatisfy(isAddressByte) else { return nil }
    } else {
      let end = octets.firstIndex(of: 0x3A) ?? octets.endIndex
      (host, rest) = (octets[..<end], octets[end...])
      guard host.allSatisfy(isHostByte) else { return nil }
    }
    guard !host.isEmpty, host.count <= 255 else { return nil }
    let name = String(decoding: UnsafeBufferPointer(rebasing: host), as: UTF8.self)
    let lowercased = host.contains { (0x41...0x5A).contains($0) } ? name.lowercased() : name
    if rest.isEmpty { return Authority(lowercased: lowercased, port: nil) }
    guard rest.removeFirst() == 0x3A else { return nil }
    if rest.isEmpty { return Authority(lowercased: lowercased, port: nil) }
    var port = 0
    for octet in rest {
      guard (0x30...0x39).contains(octet), port <= 65_535 else { return nil }
      port = port * 10 + Int(octet - 0x30)
    }
    guard (1...65_535).contains(port) else { return nil }
    return Authority(lowercased: lowercased, port: port)
  }

  private init(lowercased host: String, port: Int?) {
    self.host = host
    self.port = port
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

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x3A, 0x41...0x46, 0x61...0x66, 0x2E: true
    default: false
    }
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
    return String(joining: [hostText, ":", String(port)])
  }
}
