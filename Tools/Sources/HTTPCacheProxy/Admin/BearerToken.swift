import Synchronization

/// A secret that requests send in `Authorization` (RFC 6750 §2.1). A class, so that all copies of the rules that
/// require it follow a replacement.
final class BearerToken: Sendable {
  private let octets: Mutex<[UInt8]>

  init(_ text: String) { octets = Mutex(Array(text.utf8)) }

  /// Requires the secret of another token from now on.
  func replace(with other: BearerToken) {
    let new = other.octets.withLock { $0 }
    octets.withLock { $0 = new }
  }

  /// Whether a request has the token.
  ///
  /// - Parameter authorization: the value of `Authorization`.
  func isIn(_ authorization: String?) -> Bool {
    guard let authorization, authorization.lowercased().hasPrefix("bearer ") else { return false }
    let given = Array(authorization.utf8.dropFirst("bearer ".utf8.count))
    let octets = octets.withLock { $0 }
    // The time must not tell how many bytes are right.
    guard given.count == octets.count else { return false }
    return zip(given, octets).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
