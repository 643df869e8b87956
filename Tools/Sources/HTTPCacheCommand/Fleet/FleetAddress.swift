import HTTPCacheRedis
import HTTPCacheSemantics
import HTTPCaching

/// The URL of a fleet's server as options have it.
enum FleetAddress {
  /// Reads a URL, with the password of a file.
  ///
  /// - Parameter password: nil if the URL has it, or none is needed.
  /// - Throws: `SharedTierError` of the kind `refused`, with nothing of user and password.
  static func parse(_ text: String, password: String?) throws(SharedTierError) -> RedisAddress {
    guard let start = text.firstRange(of: "://")?.upperBound else { return try RedisAddress(text) }
    guard let password else {
      guard !text[start...].contains("@") || hasPassword(text) else {
        throw SharedTierError(
          .refused, "it has a user without a password; --fleet-password-file FILE gives it")
      }
      return try RedisAddress(text)
    }
    guard !hasPassword(text) else {
      throw SharedTierError(.refused, "the URL has a password, and --fleet-password-file names another one")
    }
    let rest = text[start...]
    let at = authority(rest).lastIndex(of: "@")
    let (user, place) = at.map { (rest[..<$0], rest[rest.index(after: $0)...]) } ?? ("", rest)
    let encoded = TargetURI.percentEncoded(password.utf8)
    return try RedisAddress("\(text[..<start])\(user):\(encoded)@\(place)")
  }

  /// Whether a URL has a password.
  static func hasPassword(_ text: String) -> Bool {
    guard let start = text.firstRange(of: "://")?.upperBound else { return false }
    // A password may have a slash that is not encoded: the URL is refused then, but it shows the password all the same.
    guard let at = text[start...].lastIndex(of: "@") else { return false }
    return text[start..<at].contains(":")
  }

  /// Whether a command line shows the password of a fleet.
  static func isPasswordShown(in arguments: [String]) -> Bool {
    for (index, argument) in arguments.enumerated() {
      if argument == "--fleet", index + 1 < arguments.count, hasPassword(arguments[index + 1]) { return true }
      if argument.hasPrefix("--fleet="), hasPassword(argument) { return true }
    }
    return false
  }

  private static func authority(_ rest: Substring) -> Substring { rest.prefix { $0 != "/" } }
}
