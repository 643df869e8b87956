/// The version of the command: the one place it is written down.
enum CommandVersion {
  static let current = "0.1.0"

  /// What the command sends as `User-Agent`.
  static let userAgent = "httpcache/\(current)"
}
