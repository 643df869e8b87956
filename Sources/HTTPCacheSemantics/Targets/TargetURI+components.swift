/// The components of a URI reference (RFC 3986 §3, appendix B), not yet checked.
struct URIParts {
  var scheme: Octets?
  var authority: Octets?
  var path: Octets
  var query: Octets?

  init(_ octets: Octets) {
    let end = octets.firstIndex(of: UInt8(ascii: "#")) ?? octets.count
    var start = 0
    if let colon = octets[..<end].firstIndex(where: { Self.endsScheme($0) }), colon > 0,
      octets[colon] == UInt8(ascii: ":"), Self.isScheme(octets.part(0..<colon))
    {
      scheme = octets.part(0..<colon)
      start = colon + 1
    }
    if end - start >= 2, octets[start] == UInt8(ascii: "/"), octets[start + 1] == UInt8(ascii: "/") {
      let authorityEnd =
        octets[(start + 2)..<end].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        ?? end
      authority = octets.part((start + 2)..<authorityEnd)
      start = authorityEnd
    }
    let pathEnd = octets[start..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
    path = octets.part(start..<pathEnd)
    query = pathEnd < end ? octets.part((pathEnd + 1)..<end) : nil
  }

  private static func endsScheme(_ octet: UInt8) -> Bool {
    octet == UInt8(ascii: ":") || octet == UInt8(ascii: "/") || octet == UInt8(ascii: "?")
  }

  private static func isScheme(_ octets: Octets) -> Bool {
    octets[0].isLetter
      && octets.allSatisfy {
        $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
          || $0 == UInt8(ascii: ".")
      }
  }
}

extension TargetURI {
  /// Appends host and port; nil for an authority without a host.
  static func appendAuthority(
    _ authority: Octets, defaultPort: Int64, to output: inout [UInt8]
  ) -> Bool {
    var authority = authority
    if let at = authority.firstIndex(of: UInt8(ascii: "@")) {
      guard authority[..<at].allSatisfy({ isUserInformation($0) }) else { return false }
      authority = authority.part((at + 1)..<authority.count)
    }
    var hostEnd: Int
    if authority.first == UInt8(ascii: "[") {
      guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")), bracket > 1 else {
        return false
      }
      hostEnd = bracket + 1
      let zone = authority[1..<bracket].firstIndex(of: UInt8(ascii: "%")) ?? bracket
      guard zone > 1, zone == bracket || isZone(authority[zone..<bracket]) else { return false }
      for octet in authority[1..<zone] {
        guard isUnreserved(octet) || isSubDelimiter(octet) || octet == UInt8(ascii: ":") else {
          return false
        }
      }
      output.append(contentsOf: authority[..<zone].lazy.map(\.lowercased))
      output.append(contentsOf: authority[zone..<hostEnd])
    } else {
      hostEnd = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.count
      guard hostEnd > 0, appendName(authority.part(0..<hostEnd), to: &output) else { return false }
    }
    guard hostEnd < authority.count else { return true }
    guard authority[hostEnd] == UInt8(ascii: ":") else { return false }
    hostEnd += 1
    guard hostEnd < authority.count else { return true }
    guard let port = authority.part(hostEnd..<authority.count).decimal, port <= 65_535 else {
      return false
    }
    if port != defaultPort {
      output.append(UInt8(ascii: ":"))
      output.append(contentsOf: String(port).utf8)
    }
    return true
  }

  /// Whether octets are the zone of an IPv6 address, as in `[fe80::1%25eth0]` (RFC 6874 §2). It names an interface of this
  /// machine, so its letter case matters.
  private static func isZone(_ octets: some Collection<UInt8>) -> Bool {
    octets.count > 3 && octets.starts(with: "%25".utf8) && octets.dropFirst(3).allSatisfy { isUnreserved($0) }
  }

  /// Appends a registered name or IPv4 address in lower case. What is encoded stays so (RFC 3986 §6.2.2.2 would decode it):
  /// a host is asked as it is written, and the encoded name may be another one.
  private static func appendName(_ name: Octets, to output: inout [UInt8]) -> Bool {
    var index = 0
    while index < name.count {
      let octet = name[index]
      if octet == UInt8(ascii: "%") {
        guard let value = triplet(name, at: index) else { return false }
        appendEncoded(value, to: &output)
        index += 3
        continue
      }
      if octet >= 0x80 {
        appendEncoded(octet, to: &output)
      } else if isUnreserved(octet) || isSubDelimiter(octet) {
        output.append(octet.lowercased)
      } else {
        return false
      }
      index += 1
    }
    return true
  }

  /// Appends a path without dot segments (RFC 3986 §5.2.4), `/` for an empty one.
  static func appendResolved(_ path: Octets, to output: inout [UInt8]) {
    var normal: [UInt8] = []
    normal.reserveCapacity(path.count)
    appendNormalized(path, to: &normal)
    let root = output.count
    var start = normal.isEmpty ? 0 : 1
    while true {
      let end = normal[start...].firstIndex(of: UInt8(ascii: "/")) ?? normal.count
      let segment = normal[start..<end]
      let isLast = end == normal.count
      if segment.elementsEqual(".".utf8) {
        if isLast { output.append(UInt8(ascii: "/")) }
      } else if segment.elementsEqual("..".utf8) {
        if let slash = output[root...].lastIndex(of: UInt8(ascii: "/")) {
          output.removeSubrange(slash...)
        }
        if isLast { output.append(UInt8(ascii: "/")) }
      } else {
        output.append(UInt8(ascii: "/"))
        output.append(contentsOf: segment)
      }
      if isLast { return }
      start = end + 1
    }
  }

  /// Appends octets with their percent-encoding normalised (RFC 3986 §6.2.2.1, §6.2.2.2). A `%` that starts
  /// no triplet stays, and the octets after it are not decoded into a triplet.
  static func appendNormalized(_ octets: Octets, to output: inout [UInt8]) {
    var index = 0
    var decodableFrom = 0
    while index < octets.count {
      let octet = octets[index]
      if let value = triplet(octets, at: index) {
        if isUnreserved(value), index >= decodableFrom {
          output.append(value)
        } else {
          appendEncoded(value, to: &output)
        }
        index += 3
      } else {
        if octet == UInt8(ascii: "%") { decodableFrom = index + 3 }
        if octet >= 0x80 { appendEncoded(octet, to: &output) } else { output.append(octet) }
        index += 1
      }
    }
  }

  /// The value of `%41` at an index; nil if no triplet begins there.
  static func triplet<Octets>(_ octets: Octets, at index: Int) -> UInt8?
  where Octets: RandomAccessCollection<UInt8>, Octets.Index == Int {
    guard index >= octets.startIndex, index + 2 < octets.endIndex, octets[index] == UInt8(ascii: "%"),
      let high = octets[index + 1].hexValue, let low = octets[index + 2].hexValue
    else { return nil }
    return high << 4 | low
  }

  /// A text without percent-encoding (RFC 3986 §2.1).
  ///
  /// - Parameters:
  ///   - text: a component of a URI, or a part of one.
  ///   - keepsOthers: whether a `%` that begins no encoded octet stays as it is.
  /// - Returns: nil if the octets are not UTF-8, or a `%` begins no encoded octet and may not stay.
  public static func percentDecoded(_ text: some StringProtocol, keepsOthers: Bool = false) -> String? {
    let octets = Array(text.utf8)
    var output: [UInt8] = []
    output.reserveCapacity(octets.count)
    var index = 0
    while index < octets.count {
      if let value = triplet(octets, at: index) {
        output.append(value)
        index += 3
      } else {
        guard keepsOthers || octets[index] != UInt8(ascii: "%") else { return nil }
        output.append(octets[index])
        index += 1
      }
    }
    return String(validating: output, as: UTF8.self)
  }

  /// Octets with percent-encoding for all but unreserved characters (RFC 3986 §2.3) and some others.
  ///
  /// - Parameters:
  ///   - octets: octets without percent-encoding.
  ///   - allowed: other characters of ASCII that stay.
  public static func percentEncoded(_ octets: some Sequence<UInt8>, allowed: String = "") -> String {
    var output: [UInt8] = []
    appendEncoded(octets, allowed: allowed, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends the octets of `percentEncoded(_:allowed:)`.
  static func appendEncoded(
    _ octets: some Sequence<UInt8>, allowed: String = "", to output: inout [UInt8]
  ) {
    for octet in octets {
      if isUnreserved(octet) || allowed.utf8.contains(octet) {
        output.append(octet)
      } else {
        appendEncoded(octet, to: &output)
      }
    }
  }

  static func appendEncoded(_ octet: UInt8, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "%"))
    for digit in [octet >> 4, octet & 15] {
      output.append(digit < 10 ? 0x30 + digit : 0x37 + digit)
    }
  }

  static func isUnreserved(_ octet: UInt8) -> Bool {
    octet.isLetter || octet.isDigit || octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".")
      || octet == UInt8(ascii: "_") || octet == UInt8(ascii: "~")
  }

  private static func isUserInformation(_ octet: UInt8) -> Bool {
    isUnreserved(octet) || isSubDelimiter(octet) || octet == UInt8(ascii: ":")
      || octet == UInt8(ascii: "%") || octet >= 0x80
  }

  private static func isSubDelimiter(_ octet: UInt8) -> Bool {
    switch octet {
    case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
    default: false
    }
  }
}

extension TargetURI {
  /// Scheme, authority, and path with query of a normalised URI.
  public struct Parts: Sendable, Hashable {
    /// `http` or `https`.
    public let scheme: String
    /// Host, and port if it is not the scheme's default.
    public let authority: String
    /// Path and query.
    public let path: String
  }

  /// The parts of a normalised URI, as a request carries them; nil for any other text.
  public static func parts(of uri: String) -> Parts? {
    guard let normalized = normalized(uri) else { return nil }
    let octets = normalized.utf8
    guard let colon = octets.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let start = octets.index(colon, offsetBy: 3)
    let end = octets[start...].firstIndex(of: UInt8(ascii: "/")) ?? octets.endIndex
    return Parts(
      scheme: String(normalized[..<colon]), authority: String(normalized[start..<end]),
      path: String(normalized[end...]))
  }
}
