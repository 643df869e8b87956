import HTTPCacheSemantics
import HTTPTypes

/// The properties of every URI and reference (RFC 3986 §5.2, §6.2.2).
enum URIProperties {
  static func check(_ octets: UnsafeRawBufferPointer) throws(PropertyViolation) {
    let lines = octets.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard let uri = lines.first else { return }
    if let normalized = TargetURI.normalized(uri) { try checkNormal(normalized) }
    try check(reference: lines.count > 1 ? lines[1] : uri, against: uri)
  }

  static func check(reference: String, against base: String) throws(PropertyViolation) {
    guard let resolved = TargetURI.resolved(reference, against: base) else { return }
    try checkNormal(resolved)
    let again = TargetURI.resolved(resolved, against: "http://a.b/")
    try require(again == resolved, "\(resolved) resolved once more is \(again ?? "nil")")
  }

  /// Normalising twice is the same as once, and the parts are those of the whole.
  private static func checkNormal(_ uri: String) throws(PropertyViolation) {
    let again = TargetURI.normalized(uri)
    try require(again == uri, "\(uri) normalised once more is \(again ?? "nil")")
    let resolved = TargetURI.resolved(uri, against: "http://a.b/")
    try require(
      resolved == TargetURI.resolvingDotSegments(of: uri), "\(uri) resolved is \(resolved ?? "nil")")
    guard let parts = TargetURI.parts(of: uri), let origin = TargetURI.origin(of: uri) else {
      throw PropertyViolation(description: "no parts or origin of \(uri)")
    }
    try require(
      parts.scheme + "://" + parts.authority + parts.path == uri && uri.hasPrefix(origin),
      "parts \(parts) and origin \(origin) of \(uri)")
    let request = HTTPRequest(
      method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path)
    let target = CacheKey.target(of: request)
    try require(target == uri, "\(uri) as a key is \(target ?? "nil")")
  }
}
