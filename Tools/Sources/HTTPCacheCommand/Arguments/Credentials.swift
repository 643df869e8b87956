import Foundation

/// A user and a password. Messages never show the password.
struct Credentials: Sendable, Equatable, CustomStringConvertible {
  let user: String
  let password: String

  init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Reads `user:password`; nil without a colon.
  init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    user = String(text[..<colon])
    password = String(text[text.index(after: colon)...])
  }

  /// The value of `Authorization` (RFC 7617 §2).
  var basic: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }

  var description: String { "\(user):…" }

  /// Asks on the terminal for the password of a user.
  ///
  /// - Returns: nil where there is no terminal.
  static func prompted(user: String) -> Credentials? {
    guard Terminal.isTerminal(STDIN_FILENO),
      let answer = getpass("Password of \(user): ")
    else { return nil }
    return Credentials(user: user, password: String(cString: answer))
  }
}
