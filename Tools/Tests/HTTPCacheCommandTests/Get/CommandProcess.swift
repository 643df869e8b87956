import Foundation
import ServerTesting

/// A run of the built command, for signals and terminals.
struct CommandProcess {
  private let process: TestProcess
  private let folder: ScratchFolder

  /// Starts the command in a directory, where `-O` writes.
  ///
  /// - Parameter output: a descriptor for its standard output; nil for none.
  init(_ arguments: [String], in directory: ScratchFolder, output: Int32? = nil) async throws {
    folder = try ScratchFolder()
    try folder.write("".utf8, to: "errors")
    let file = try FileHandle(forWritingTo: folder.url("errors"))
    process = try await TestProcess(
      command: arguments, in: directory.path, output: output, errors: file.fileDescriptor)
    try file.close()
  }

  /// Sends a signal.
  func signal(_ number: Int32) { process.send(number) }

  /// Waits for its end.
  ///
  /// - Returns: its status, negative for a signal, and what it wrote to standard error.
  func end() async throws -> (status: Int32, errors: String) {
    let status = await process.end()
    return (status, String(decoding: folder.file("errors").bytes ?? [], as: UTF8.self))
  }
}
