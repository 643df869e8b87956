import Foundation
import ServerTesting
import Testing

extension TestProcess {
  /// Starts the command that was built beside the tests. On Linux it ends with the process of the tests.
  ///
  /// - Parameters:
  ///   - directory: its working directory.
  ///   - limit: the argument of `ulimit` before it starts.
  ///   - closes: closes its standard streams before it starts.
  ///   - output: its standard output; nil for none.
  ///   - errors: its standard error; nil for none.
  convenience init(
    command arguments: [String], in directory: String = ".", limit: String = "-c 0", closes: Bool = false,
    output: Int32? = nil, errors: Int32? = nil
  ) async throws {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let program = folder.appendingPathComponent("httpcache").path
    try #require(FileManager.default.isExecutableFile(atPath: program), "\(program) is built with the tests")
    let streams = closes ? " <&- >&- 2>&-" : ""
    let script = "ulimit \(limit) && cd \"$1\" && shift && exec \"$0\" \"$@\"\(streams)"
    try await self.init(
      ["/bin/sh", "-c", script, program, directory] + arguments, output: output, errors: errors)
  }
}
