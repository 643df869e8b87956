package import HTTPCacheSemantics

extension CacheKey {
  /// Scheme and authority of the target (RFC 9110 §4.3.1), the scope of groups.
  package var origin: String { Self.origin(of: target) }

  /// Scheme and authority of a target; empty if it has none.
  package static func origin(of target: String) -> String {
    guard let colon = target.utf8.firstIndex(of: UInt8(ascii: ":")) else { return "" }
    let rest = target.utf8[colon...].dropFirst()
    guard rest.starts(with: "//".utf8) else { return "" }
    let end = rest.dropFirst(2).firstIndex {
      $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
    }
    return String(target[..<(end ?? target.endIndex)])
  }
}
