import Foundation

/// The output cannot be written.
struct OutputFailure: Error, CustomStringConvertible {
  /// The operation that failed, and why.
  let description: String

  /// Makes a failure with a message of its own.
  init(message: String) { description = message }

  /// Makes a failure with the system's message for `errno`.
  init(_ doing: String) { description = "\(doing): \(String(cString: strerror(errno)))" }
}
