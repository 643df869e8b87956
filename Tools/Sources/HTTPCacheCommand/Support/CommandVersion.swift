import CBuildCommit

/// The version of the command, defined only here.
enum CommandVersion {
  static let current = "0.1.0"

  /// The value of `User-Agent`.
  static let userAgent = "httpcache/\(current)"

  /// The output of `--version`: the version, and the commit if the build knows it.
  static let described = describe(commit: String(cString: httpcache_build_commit()))

  /// Returns the version, followed by `commit` in parentheses unless `commit` is empty.
  static func describe(commit: String) -> String {
    commit.isEmpty ? current : "\(current) (\(commit))"
  }
}
