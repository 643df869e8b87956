/// Why a configuration file cannot be used: file, line, key, and what was expected.
struct ConfigFailure: Error, CustomStringConvertible {
  let description: String

  init(_ file: String, line: Int? = nil, _ message: String) {
    description = line.map { "\(file), line \($0): \(message)" } ?? "\(file): \(message)"
  }
}
