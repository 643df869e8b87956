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
