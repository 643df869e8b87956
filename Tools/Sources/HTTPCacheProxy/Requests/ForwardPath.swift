import HTTPCacheSemantics
import HTTPTypes

/// The path that a forward proxy is asked for, and passes on as it is (RFC 9110 §7.7).
enum ForwardPath {
  /// Whether the response may be stored and used under the normal form of the path: the spellings differ only in the letter
  /// case of escapes, or in an escape for `~`, which clients by RFC 1738 write. No origin tells these apart
  /// (RFC 3986 §6.2.2.1, §6.2.2.2).
  ///
  /// Other spellings, such as `/%61`, go past the cache: some origins answer them with an error, which clients with the
  /// normal spelling would get. Dot segments that are not escaped belong to the key, and need no other spelling.
  static func sharesKey(_ request: HTTPRequest) -> Bool {
    guard let path = request.path, GatewayPath.needsNormalising(path) else { return true }
    return CacheKey.target(of: request)?.hasSuffix(spelled(path)) == true
  }

  /// The path with capital letters in its escapes, and without an escape for `~`.
  private static func spelled(_ path: String) -> String {
    let parts = path.split(separator: "%", omittingEmptySubsequences: false)
    var spelled = String(parts[0])
    for part in parts.dropFirst() {
      let digits = part.prefix(2)
      let isEscape = digits.count == 2 && digits.allSatisfy(\.isHexDigit)
      let escape = "%" + (isEscape ? digits.uppercased() : String(digits))
      spelled += escape == "%7E" ? "~" : escape
      spelled += part.dropFirst(2)
    }
    return spelled
  }
}
