import ArgumentParser
import HTTPCacheProxy

/// The options of `serve` for its admin listener.
struct AdminOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Listen on this address for a dashboard in the browser (/), /metrics (Prometheus), /healthz, /readyz, JSON and, \
      with a token, purges.
      """, valueName: "address"), transform: ListenAddress.parsed)
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
    let token = try TokenFile(option: "--admin-token-file", path: path).token()
    return AdminAccess(token: token, open: DashboardPage.paths)
  }
}
