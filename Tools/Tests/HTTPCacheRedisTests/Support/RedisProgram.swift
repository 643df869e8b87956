import Foundation

/// The programs that these tests need.
enum RedisProgram {
  /// The path of a program; nil where it is not installed.
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]).map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static let server = path(of: "redis-server") ?? path(of: "valkey-server")
  static let isInstalled = server != nil
  static let client = path(of: "redis-cli") ?? path(of: "valkey-cli")
  static let openssl = path(of: "openssl")
}
