import Foundation
import HTTPCacheLibC
import ServerTesting
import Testing

/// The command that was built beside the tests, as a process of its own.
final class ChildProcess: Sendable {
  private let process: TestProcess

  /// Starts the command. On Linux it ends with the process of the tests.
  ///
  /// - Parameters:
  ///   - directory: its working directory.
  ///   - limit: the argument of `ulimit` before it starts.
  ///   - closes: closes its standard streams before it starts.
  ///   - output: its standard output; nil for none.
  ///   - errors: its standard error; nil for none.
  init(
    _ arguments: [String], in directory: String = ".", limit: String = "-c 0", closes: Bool = false,
    output: Int32? = nil, errors: Int32? = nil
  ) async throws {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let program = folder.appendingPathComponent("httpcache").path
    try #require(FileManager.default.isExecutableFile(atPath: program), "\(program) is built with the tests")
    let streams = closes ? " <&- >&- 2>&-" : ""
    let script = "ulimit \(limit) && cd \"$1\" && shift && exec \"$0\" \"$@\"\(streams)"
    process = try await TestProcess(
      ["/bin/sh", "-c", script, program, directory] + arguments, output: output, errors: errors)
  }

  /// Sends a signal, unless the process has ended.
  func send(_ signal: Int32) { process.send(signal) }

  /// Whether it has ended.
  var isEnded: Bool { process.isEnded }

  /// The status that it ends with; a signal that ends it is negative.
  func end() async -> Int32 { await process.end() }

  /// Its resource limits as `/proc` shows them.
  var limits: String { process.limits }

  /// The file of a descriptor, as `/proc` shows it; nil if it is closed.
  func file(of descriptor: Int32) -> String? { process.file(of: descriptor) }

  /// The names of its threads as `/proc` shows them.
  var threadNames: [String] { process.threadNames }
}
