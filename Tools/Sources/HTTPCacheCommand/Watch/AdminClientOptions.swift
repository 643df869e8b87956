import ArgumentParser
import Foundation
import HTTPCacheProxy

/// The options of commands that read from a running `httpcache serve`.
struct AdminClientOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The address of the admin listener, that of serve --admin, or its URL. Without a port: \
      \(AdminAddress.defaultPort). (default: \(AdminAddress.local))
      """, valueName: "address"), transform: AdminAddress.parsed)
  var admin = AdminAddress.local

  @Option(
    help: ArgumentHelp(
      "The file of the listener's token: that of serve --admin-token-file.", valueName: "path"))
  var adminTokenFile: String?

  @Option(
    help: ArgumentHelp(
      "How many seconds (top) or requests (log) to show; without it, until it is interrupted.",
      valueName: "number"))
  var count: Int?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1 (got \(count)).") }
  }

  /// The client for the listener.
  ///
  /// - Throws: `StartFailure` if the token cannot be read.
  func client() throws(StartFailure) -> AdminClient {
    guard let path = adminTokenFile else { return AdminClient(address: admin.description, token: nil) }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw StartFailure("--admin-token-file \(path): cannot be read")
    }
    let token = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    return AdminClient(address: admin.description, token: token)
  }
}
