import HTTPCacheSemantics
import HTTPTypes

/// The path that a gateway requests from its origin.
enum GatewayPath {
  /// Normalises the path and query of a request.
  ///
  /// The cache key is normalised (RFC 3986 §6.2.2), so the request uses the key's spelling. Otherwise the response to
  /// one spelling would reach clients that requested another. Dot segments are resolved first, so that they cannot
  /// leave the base path of a route.
  ///
  /// - Throws: `Refusal` for an invalid path.
  static func normalised(_ path: String) throws(Refusal) -> String {
    guard needsNormalising(path) else { return path }
    guard let parts = TargetURI.parts(of: "http://h" + path) else {
      throw Refusal(.badRequest, "the path is not valid (RFC 3986 §3.3)")
    }
    return parts.path
  }

  /// - Parameters:
  ///   - path: a normalised path.
  ///   - isBelow: whether only a part of the origin is served.
  /// - Throws: `Refusal` for a path that an origin could read as outside of that part.
  static func check(_ path: String, isBelow: Bool) throws(Refusal) {
    if isBelow, needsNormalising(path), mayLeave(path) {
      throw Refusal(
        .badRequest, "the path has a .. that could leave the part of the origin that is served here")
    }
  }

  /// Whether `path` may have percent-encoding, dot segments, or characters that some origins read as dot segments.
  private static func needsNormalising(_ path: String) -> Bool {
    var previous: UInt8 = 0
    for byte in path.utf8 {
      if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") { return true }
      if byte == UInt8(ascii: "."), previous == UInt8(ascii: "/") { return true }
      previous = byte
    }
    return false
  }

  /// Whether an origin would see a segment `..` that decodes the path once or twice, reads a backslash as a slash,
  /// and cuts a segment at a semicolon, a number sign, a question mark, a space or a control.
  private static func mayLeave(_ path: String) -> Bool {
    let octets = Array(path.utf8.prefix { $0 != UInt8(ascii: "?") })
    let decoded = percentDecoded(octets)
    return [octets, decoded, percentDecoded(decoded)].contains { octets in
      octets.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { segment in
        segment.prefix { $0 > 0x20 && $0 != 0x7F && !";#?".utf8.contains($0) }.elementsEqual("..".utf8)
      }
    }
  }

  private static func percentDecoded(_ octets: [UInt8]) -> [UInt8] {
    var decoded: [UInt8] = []
    var rest = octets[...]
    while let octet = rest.popFirst() {
      if octet == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        rest.removeFirst(2)
        decoded.append(value)
      } else {
        decoded.append(octet)
      }
    }
    return decoded
  }
}
