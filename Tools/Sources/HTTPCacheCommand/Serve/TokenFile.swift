import Foundation
import HTTPCacheProxy

/// A file with a token.
struct TokenFile {
  /// The option that names the file, for messages.
  let option: String
  let path: String

  /// Reads the token.
  ///
  /// - Throws: `StartFailure` if the token cannot be used.
  func token() throws(StartFailure) -> String {
    let place = "\(option) \(path)"
    guard let data = FileManager.default.contents(atPath: path) else {
      throw StartFailure("\(place): cannot be read")
    }
    var status = stat()
    if stat(path, &status) == 0, SecretFile.isOpenToOthers(path, status) {
      throw StartFailure("\(place): other users can read it; run `chmod 600` on it")
    }
    let token = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard token.utf8.count >= AdminAccess.shortestToken, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw StartFailure(
        "\(place): must have one token of at least \(AdminAccess.shortestToken) visible ASCII characters (has \(token.utf8.count) bytes)"
      )
    }
    return token
  }
}
