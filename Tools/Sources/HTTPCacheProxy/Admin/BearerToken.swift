/// A secret that requests send in `Authorization` (RFC 6750 §2.1).
struct BearerToken: Sendable {
  private let octets: [UInt8]

  init(_ text: String) { octets = Array(text.utf8) }

  /// Whether a request has the token.
  ///
  /// - Parameter authorization: the value of `Authorization`.
  func isIn(_ authorization: String?) -> Bool {
    guard let authorization, authorization.lowercased().hasPrefix("bearer ") else { return false }
    let given = Array(authorization.utf8.dropFirst("bearer ".utf8.count))
    // The time must not tell how many bytes are right.
    guard given.count == octets.count else { return false }
    return zip(given, octets).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
