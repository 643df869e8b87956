import ArgumentParser
import Foundation
import HTTPCacheProxy

/// The options of `serve` for its admin listener.
struct AdminOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Listen on this address for a dashboard in the browser (/), /metrics (Prometheus), /healthz, /readyz, JSON and, \
      with a token, purges.
      """, valueName: "address"))
  var admin: ListenAddress?

  @Option(
    help: ArgumentHelp(
      """
      The file of the token that admin requests must send (Authorization: Bearer TOKEN), at least \
      \(AdminAccess.shortestToken) bytes. Other users must not have read access. Required if other machines can reach \
      --admin.
      """, valueName: "path"))
  var adminTokenFile: String?

  func validate() throws {
    if adminTokenFile != nil, admin == nil { throw ValidationError("--admin-token-file requires --admin.") }
    if let admin, !admin.isLoopback, adminTokenFile == nil {
      throw ValidationError(
        "--admin \(admin) can be reached from other machines; it requires --admin-token-file.")
    }
  }

  /// The rules for admin requests.
  ///
  /// - Throws: `StartFailure` if the token cannot be used.
  func access() throws(StartFailure) -> AdminAccess {
    guard let path = adminTokenFile else { return AdminAccess(token: nil, open: DashboardPage.paths) }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw StartFailure("--admin-token-file \(path): cannot be read")
    }
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 {
      throw StartFailure("--admin-token-file \(path): other users can read it; run `chmod 600` on it")
    }
    let token = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard token.utf8.count >= AdminAccess.shortestToken, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw StartFailure(
        "--admin-token-file \(path): must have one token of at least \(AdminAccess.shortestToken) visible ASCII characters (has \(token.utf8.count) bytes)"
      )
    }
    return AdminAccess(token: token, open: DashboardPage.paths)
  }
}
