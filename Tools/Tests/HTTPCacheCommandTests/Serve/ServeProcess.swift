import Foundation
import ServerTesting
import Synchronization
import Testing

/// `httpcache serve` as a separate process: for tests of signals, descriptors and the end of the process.
final class ServeProcess: Sendable {
  /// The text on standard error so far.
  let errors = LineRecorder()
  private let process: TestProcess
  private let isReadToEnd = Flag()

  private final class Flag: Sendable {
    let value = Mutex(false)
  }

  /// Starts the command that was built beside the tests.
  ///
  /// - Parameters:
  ///   - arguments: those after `serve`; without `--disk`, the cache is in memory.
  ///   - limit: the argument of `ulimit` before it starts.
  ///   - output: its standard output; nil for none.
  init(_ arguments: [String], limit: String = "-c 0", output: Int32? = nil) async throws {
    let pipe = Pipe()
    let disk = arguments.contains("--disk") ? [] : ["--disk", "0"]
    process = try await TestProcess(
      command: ["serve", "--listen", "127.0.0.1:0"] + disk + arguments, limit: limit, output: output,
      errors: pipe.fileHandleForWriting.fileDescriptor)
    try pipe.fileHandleForWriting.close()
    let (errors, isReadToEnd) = (errors, isReadToEnd)
    let reader = pipe.fileHandleForReading
    Thread.detachNewThread {
      while true {
        let data = reader.availableData
        if data.isEmpty { return isReadToEnd.value.withLock { $0 = true } }
        errors.write(String(decoding: data, as: UTF8.self))
      }
    }
  }

  /// Sends a signal.
  func send(_ signal: Int32) { process.send(signal) }

  /// The status that it ends with; a signal that ends it is negative. Standard error is complete then.
  func end() async -> Int32 {
    let status = await process.end()
    try? await eventually { isReadToEnd.value.withLock { $0 } }
    return status
  }

  /// Ends it by SIGTERM, and returns the status as `end()` does.
  func terminate() async -> Int32 {
    send(SIGTERM)
    return await end()
  }

  /// Whether it has ended.
  var isEnded: Bool { process.isEnded }

  /// Waits until standard error has `text`.
  func says(_ text: String, times: Int = 1) async throws {
    while count(of: text) < times { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// How often it has written a text so far.
  func count(of text: String) -> Int { errors.text.ranges(of: text).count }

  /// The port that it listens on, once it does.
  func port() async throws -> Int { try await port(after: ": listening on ") }

  /// The port of its admin listener, once it listens.
  func adminPort() async throws -> Int { try await port(after: ": admin listener on ") }

  private func port(after words: String) async throws -> Int {
    while true {
      // A line that has its end.
      let line = errors.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .first { $0.contains(words) }
      if let line { return try #require(line.split(separator: ":").last.flatMap { Int($0) }, "\(line)") }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Its resource limits as `/proc` shows them.
  var limits: String { process.limits }

  /// The names of its threads as `/proc` shows them.
  var threadNames: [String] { process.threadNames }
}
