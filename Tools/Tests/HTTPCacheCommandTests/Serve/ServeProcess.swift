import Foundation
import Synchronization
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `httpcache serve` as a separate process: for tests of signals, descriptors and the end of the process.
final class ServeProcess: Sendable {
  /// The text on standard error so far.
  let errors = LineRecorder()
  private let pid: pid_t
  private let exit: Task<Int32, Never>
  private let hasEnded = Ended()

  private final class Ended: Sendable {
    let value = Atomic(false)
  }

  /// Starts the command that was built beside the tests.
  ///
  /// - Parameters:
  ///   - limit: the argument of `ulimit` before it starts.
  ///   - output: its standard output.
  init(_ arguments: [String], limit: String = "-c 0", output: Any? = FileHandle.nullDevice) throws {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let program = folder.appendingPathComponent("httpcache").path
    try #require(FileManager.default.isExecutableFile(atPath: program), "\(program) is built with the tests")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments =
      [
        "-c", "ulimit \(limit) && exec \"$0\" \"$@\"", program, "serve", "--listen", "127.0.0.1:0", "--disk",
        "0",
      ]
      + arguments
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = output
    let (ends, continuation) = AsyncStream<Int32>.makeStream()
    let hasEnded = hasEnded
    process.terminationHandler = { process in
      hasEnded.value.store(true, ordering: .relaxed)
      let isSignal = process.terminationReason == .uncaughtSignal
      continuation.yield(isSignal ? -process.terminationStatus : process.terminationStatus)
      continuation.finish()
    }
    try process.run()
    pid = process.processIdentifier
    exit = Task {
      for await status in ends { return status }
      return .min
    }
    let errors = errors
    let reader = pipe.fileHandleForReading
    Thread.detachNewThread {
      while true {
        let data = reader.availableData
        if data.isEmpty { return }
        errors.write(String(decoding: data, as: UTF8.self))
      }
    }
  }

  deinit { if !hasEnded.value.load(ordering: .relaxed) { kill(pid, SIGKILL) } }

  /// Sends a signal.
  func send(_ signal: Int32) { kill(pid, signal) }

  /// The status that it ends with; a signal that ends it is negative.
  func end() async -> Int32 { await exit.value }

  /// Waits until standard error has `text`.
  func says(_ text: String) async throws {
    while !errors.text.contains(text) { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// The port that it listens on, once it does.
  func port() async throws -> Int {
    try await says("\n")
    let digits = errors.text.split(separator: "\n").first?.split(separator: ":").last ?? ""
    return try #require(Int(digits), "\(errors.text)")
  }

  /// Its resource limits as `/proc` shows them.
  var limits: String { (try? String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)) ?? "" }
}
