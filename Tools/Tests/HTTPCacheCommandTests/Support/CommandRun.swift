import ArgumentParser
import Foundation
import ServerTesting
import Synchronization

@testable import HTTPCacheCommand

/// Keeps lines from any thread.
final class LineRecorder: Sendable {
  private let kept = Mutex("")
  var text: String { kept.withLock { $0 } }
  var lines: [String] { text.split(separator: "\n").map(String.init) }
  func add(_ line: String) { write(line + "\n") }
  func write(_ text: String) { kept.withLock { $0 += text } }
}

/// The output and exit status of a command, run in this process.
struct CommandRun {
  let status: Int32
  let output: String
  let errors: String

  init(_ arguments: String...) async { await self.init(arguments) }

  /// - Parameter errors: gets its standard error while it runs.
  init(_ arguments: [String], errors: LineRecorder = LineRecorder()) async {
    let output = LineRecorder()
    let console = Console(output: { output.write($0) }, error: { errors.write($0) })
    status = await Console.$current.withValue(console) {
      do {
        var command = try HTTPCacheCommand.parsed(arguments)
        if var asynchronous = command as? any AsyncParsableCommand {
          try await asynchronous.run()
        } else {
          try command.run()
        }
        return 0
      } catch {
        if !(error is ExitCode) { errors.add(HTTPCacheCommand.errorText(error)) }
        return HTTPCacheCommand.exitCode(for: error).rawValue
      }
    }
    self.output = output.text
    self.errors = errors.text
  }
}

extension CommandRun {
  /// Runs `get` for a path of an origin, with a cache and the file `out` in a directory.
  static func get(
    _ path: String = "/file", from origin: ScriptedOrigin, in directory: TemporaryDirectory,
    options: String...
  ) async -> CommandRun {
    await CommandRun(
      ["get", origin.base + path, "--dir", directory.file("cache"), "-o", directory.file("out")] + options)
  }
}

/// A directory that is removed with its owner.
final class TemporaryDirectory: Sendable {
  let path = NSTemporaryDirectory() + "httpcache-tests-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  /// Writes a file.
  ///
  /// - Returns: its path.
  @discardableResult
  func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int? = nil) throws -> String {
    let path = file(name)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path) }
    return path
  }

  /// The names in it, without the cache and the files of a `CommandProcess`.
  func names() throws -> Set<String> {
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return Set(names.filter { $0 != "cache" && !$0.hasPrefix("errors-") })
  }

  func contents(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: file(name)).map(Array.init)
  }
}
