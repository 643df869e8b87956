import Foundation

/// The programs of Redis or Valkey that tests need.
package enum RedisProgram {
  /// The path of a program; nil where it is not installed.
  package static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]).map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  package static let server = path(of: "redis-server") ?? path(of: "valkey-server")
  package static let isInstalled = server != nil
  package static let client = path(of: "redis-cli") ?? path(of: "valkey-cli")
  package static let openssl = path(of: "openssl")
}
