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
    guard let resolved = TargetURI.resolvingDotSegments(of: "http://h" + path),
      let parts = TargetURI.parts(of: resolved)
    else {
      throw Refusal(.badRequest, "the path is not valid (RFC 3986 §3.3)")
    }
    return parts.path
  }

  /// - Parameters:
  ///   - path: a normalised path.
  ///   - isBelow: whether only a part of the origin is served.
  /// - Throws: `Refusal` for a path that an origin could read as outside of that part.
  static func check(_ path: String, isBelow: Bool) throws(Refusal) {
    if isBelow, PathReadings(of: path).hasParentSegment {
      throw Refusal(
        .badRequest, "the path has a .. that could leave the part of the origin that is served here")
    }
  }

  /// Whether `path` may have percent-encoding, dot segments, or characters that some origins read as dot segments.
  static func needsNormalising(_ path: String) -> Bool {
    var previous: UInt8 = 0
    for byte in path.utf8 {
      if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") { return true }
      if byte == UInt8(ascii: "."), previous == UInt8(ascii: "/") { return true }
      previous = byte
    }
    return false
  }
}
