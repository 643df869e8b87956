import ArgumentParser
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheCommand
// Testing has one, too.
@testable import enum HTTPCacheCommand.ExitStatus

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
  /// A run that must succeed.
  @discardableResult
  static func success(
    _ arguments: String..., at location: SourceLocation = #_sourceLocation
  ) async -> CommandRun {
    await CommandRun(arguments).expectSuccess(at: location)
  }

  /// A run that must succeed.
  @discardableResult
  static func success(
    _ arguments: [String], at location: SourceLocation = #_sourceLocation
  ) async -> CommandRun {
    await CommandRun(arguments).expectSuccess(at: location)
  }

  /// A run that must fail with a status.
  @discardableResult
  static func failure(
    _ status: ExitStatus, _ arguments: String...,
    at location: SourceLocation = #_sourceLocation
  ) async -> CommandRun {
    await CommandRun(arguments).expect(status, at: location)
  }

  /// A run that must fail with a status.
  @discardableResult
  static func failure(
    _ status: ExitStatus, _ arguments: [String],
    at location: SourceLocation = #_sourceLocation
  ) async -> CommandRun {
    await CommandRun(arguments).expect(status, at: location)
  }

  /// Checks that the exit status is 0.
  @discardableResult
  func expectSuccess(at location: SourceLocation = #_sourceLocation) -> CommandRun {
    expect(.success, at: location)
  }

  /// Checks the exit status.
  @discardableResult
  func expect(_ status: ExitStatus, at location: SourceLocation = #_sourceLocation)
    -> CommandRun
  {
    #expect(self.status == status.rawValue, "\(errors)", sourceLocation: location)
    return self
  }

  /// Runs `get` for a path of an origin, with a cache and the file `out` in a directory.
  static func get(
    _ path: String = "/file", from origin: ScriptedOrigin, in directory: ScratchFolder,
    options: [String] = []
  ) async -> CommandRun {
    await CommandRun(
      ["get", origin.base + path, "--dir", directory.path("cache"), "-o", directory.path("out")] + options)
  }
}
