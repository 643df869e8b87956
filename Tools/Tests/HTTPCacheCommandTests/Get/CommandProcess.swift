import Foundation
import Testing

/// The built command as a process of its own, for signals and terminals.
struct CommandProcess {
  private let process = Process()
  private let errors: URL

  /// Starts the command in a directory, where `-O` writes.
  ///
  /// - Parameter output: a descriptor for its standard output; nil for none.
  init(_ arguments: [String], in directory: TemporaryDirectory, output: Int32? = nil) throws {
    // Beside the bundle of the tests.
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    process.executableURL = folder.appendingPathComponent("httpcache")
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    errors = URL(fileURLWithPath: directory.file("errors-\(UUID().uuidString)"))
    try Data().write(to: errors)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output.map { FileHandle(fileDescriptor: $0) } ?? FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
  }

  /// Sends a signal.
  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Waits for its end.
  ///
  /// - Returns: its status and what it wrote to standard error.
  func end() async throws -> (status: Int32, errors: String) {
    // Waiting on the threads of tasks could hold up what it waits for.
    let status = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [process] in
        process.waitUntilExit()
        continuation.resume(returning: process.terminationStatus)
      }
    }
    return (status, String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }
}
