import HTTPCacheProxy

/// Why a configuration file cannot be used: file, line, key, and what was expected.
struct ConfigFailure: Error, CustomStringConvertible {
  let description: String

  /// - Parameter message: may quote the file: it is shown within a screen, without control characters.
  init(_ file: String, line: Int? = nil, _ message: String) {
    let text = line.map { "\(file), line \($0): \(message)" } ?? "\(file): \(message)"
    description = text.bounded.printable
  }
}
