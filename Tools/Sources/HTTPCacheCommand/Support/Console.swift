import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCaching
import Synchronization

/// The destinations of a command's output; tests replace them.
struct Console: Sendable {
  /// Writes to standard output.
  var output: @Sendable (String) -> Void
  /// Writes to standard error.
  var error: @Sendable (String) -> Void

  /// The console of the running command.
  @TaskLocal static var current = Console(
    output: { text in
      guard !writeAll(text, to: STDOUT_FILENO) else { return }
      let code = errno
      failedWrite.withLock { $0 = $0 ?? code }
    }, error: { _ = writeAll($0, to: STDERR_FILENO) })

  /// The `errno` of the first write to standard output that failed.
  private static let failedWrite = Mutex<Int32?>(nil)

  /// Opens standard streams that are closed, so that no socket and no file of the cache gets their descriptors. Writing
  /// to standard output still fails; to standard error it must not: SwiftNIO and Swift's runtime end a process then.
  static func openMissingStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The system gives out the lowest descriptor.
      let opened = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
      // Some folders of `chroot` have no devices.
      if opened < 0 { _ = open("/", O_RDONLY) }
    }
  }

  /// The status to end with after standard output could not be written; nil if it could. Reports why, except to a
  /// reader that has closed a pipe, as `head` does.
  static var outputFailure: ExitCode? {
    guard let code = failedWrite.withLock({ $0 }) else { return nil }
    if code != EPIPE {
      report("httpcache: cannot write to standard output: \(String(cString: strerror(code)))")
    }
    return ExitStatus.output.code
  }

  /// Ends a command that prints without an end.
  ///
  /// - Throws: `ExitCode`, after a message, if standard output could not be written.
  static func checkOutput() throws {
    if let outputFailure { throw outputFailure }
  }

  /// Writes a line to standard output, without control characters.
  static func print(_ line: String) { current.output(line.printable + "\n") }

  /// Writes a message to standard error, without control characters and within a screen: it may quote what a file or an
  /// origin says.
  static func report(_ message: String) { current.error(message.bounded.printable + "\n") }

  /// Writes a text of any length to standard error, without control characters.
  static func reportAll(_ text: String) { current.error(text.printable + "\n") }

  /// Writes a value as one line of JSON to standard output.
  static func printJSON(_ value: some Encodable) throws { current.output(try json(value) + "\n") }

  /// A value as one line of JSON.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

/// - Returns: false with `errno` if a write failed.
private func writeAll(_ text: String, to descriptor: Int32) -> Bool {
  var rest = BodyBytes(Array(text.utf8))
  while !rest.isEmpty {
    let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if written < 0 {
      if errno == EINTR { continue }
      return false
    }
    rest = rest.dropFirst(written)
  }
  return true
}
