/// A host, or all hosts below it, on one port or on all ports.
struct HostPattern: Sendable, Hashable {
  /// The host in lower case, without `*.` and port.
  let name: String
  let isBelow: Bool
  let port: Int64?

  init(_ pattern: String) throws(TargetPatternError) {
    isBelow = pattern.hasPrefix("*.")
    let rest = isBelow ? String(pattern.dropFirst(2)) : pattern
    guard !rest.isEmpty, rest.utf8.allSatisfy({ !Self.isForbidden($0) }),
      let authority = Self.normalized(rest)
    else { throw TargetPatternError(pattern, "not a host such as example.com or *.example.com") }
    let end = Self.hostEnd(authority)
    name = String(decoding: authority[..<end], as: UTF8.self)
    port = Int64(String(decoding: authority[end...].dropFirst(), as: UTF8.self))
  }

  /// The pattern as text.
  var text: String { (isBelow ? "*." : "") + name + (port.map { ":\($0)" } ?? "") }

  /// Whether a normalised target is on a matching host.
  func matches(_ target: Octets) -> Bool {
    guard let colon = target.firstIndex(of: UInt8(ascii: ":")), colon + 3 <= target.count else {
      return false
    }
    let rest = target.part((colon + 3)..<target.count)
    let authority = rest.part(0..<(rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.count))
    let end = Self.hostEnd(authority)
    if let port {
      let found =
        end < authority.count
        ? authority.part((end + 1)..<authority.count).decimal
        : colon == "https".utf8.count ? 443 : 80
      guard found == port else { return false }
    }
    return isNamed(authority.part(0..<end))
  }

  private func isNamed(_ host: Octets) -> Bool {
    var name = name
    return name.withUTF8 { name in
      guard isBelow else { return host.isEqual(to: name) }
      let start = host.count - name.count
      return start > 1 && host[start - 1] == UInt8(ascii: ".")
        && host.part(start..<host.count).isEqual(to: name)
    }
  }

  /// The end of the host, which may be an IPv6 address in brackets.
  private static func hostEnd(_ authority: some RandomAccessCollection<UInt8>) -> Int {
    let start = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    let end = authority[start...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
    return authority.distance(from: authority.startIndex, to: end)
  }

  private static func isForbidden(_ octet: UInt8) -> Bool {
    switch octet {
    case UInt8(ascii: "*"), UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"),
      0...0x20, 0x7F:
      true
    default: false
    }
  }

  private static func normalized(_ authority: String) -> [UInt8]? {
    var authority = authority
    var output: [UInt8] = []
    let isValid = authority.withUTF8 { octets in
      TargetURI.appendAuthority(octets, defaultPort: -1, to: &output)
    }
    return isValid ? output : nil
  }
}
