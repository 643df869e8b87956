import Foundation
import HTTPCacheProxy

/// A file with a token or a password.
struct TokenFile {
  /// The option that names the file, for messages.
  let option: String
  let path: String

  /// Reads the token.
  ///
  /// - Throws: `StartFailure` if the token cannot be used.
  func token() throws(StartFailure) -> String {
    let token = try text().trimmingCharacters(in: .whitespacesAndNewlines)
    guard token.utf8.count >= AdminAccess.shortestToken, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw StartFailure(
        "\(place): must have one token of at least \(AdminAccess.shortestToken) visible ASCII characters (has \(token.utf8.count) bytes)"
      )
    }
    return token
  }

  /// Reads a password of any length: the first line.
  ///
  /// - Throws: `StartFailure` if the file cannot be used, or its first line is empty.
  func password() throws(StartFailure) -> String {
    let line = String(try text().prefix { !$0.isNewline })
    guard !line.isEmpty else { throw StartFailure("\(place): its first line is empty") }
    return line
  }

  private var place: String { "\(option) \(path)" }

  /// The text of the file.
  private func text() throws(StartFailure) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw StartFailure("\(place): cannot be read")
    }
    var status = stat()
    if stat(path, &status) == 0, SecretFile.isOpenToOthers(path, status) {
      throw StartFailure("\(place): other users can read it; run `chmod 600` on it")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
