import Foundation
import HTTPCaching

/// The destinations of a command's output; tests replace them.
struct Console: Sendable {
  /// Writes to standard output.
  var output: @Sendable (String) -> Void
  /// Writes to standard error.
  var error: @Sendable (String) -> Void

  /// The console of the running command.
  @TaskLocal static var current = Console(
    output: { writeAll($0, to: STDOUT_FILENO) }, error: { writeAll($0, to: STDERR_FILENO) })

  /// Writes a line to standard output, without control characters.
  static func print(_ line: String) { current.output(line.printable + "\n") }

  /// Writes a line to standard error, without control characters.
  static func report(_ line: String) { current.error(line.printable + "\n") }

  /// Writes a value as one line of JSON to standard output.
  static func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    current.output(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n")
  }
}

private func writeAll(_ text: String, to descriptor: Int32) {
  var rest = BodyBytes(Array(text.utf8))
  while !rest.isEmpty {
    let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if written < 0 {
      if errno == EINTR { continue }
      return
    }
    rest = rest.dropFirst(written)
  }
}
