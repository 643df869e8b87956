import HTTPCacheLibC
import Synchronization

/// A Redis server on a port of its own, with little memory, and without files unless a test asks for them. It is killed
/// when this object is no longer used, and with the process of the tests.
package final class RedisServer: Sendable {
  package struct NotStarted: Error {}

  private static let ready = "Ready to accept connections"

  package let port: Int
  package let folder: ScratchFolder
  /// Whether the port is for TLS.
  package let isEncrypted: Bool
  private let options: [String]
  private let process: Mutex<TestProcess>

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - options: further options, made again for each attempt.
  ///   - isEncrypted: whether the port is for TLS; the options name the certificate.
  package static func start(
    _ options: @autoclosure () throws -> [String] = [], isEncrypted: Bool = false
  ) async throws -> RedisServer {
    for _ in 0..<5 {
      // Another process may take the port, or one of the options, before the server does.
      let port = try UnusedPort().number
      let words = try options()
      let folder = try ScratchFolder()
      let process = try await launch(port, folder, words, isEncrypted)
      let server = RedisServer(port, folder, words, isEncrypted, process)
      if await server.isReady(starts: 1) { return server }
    }
    throw NotStarted()
  }

  private init(
    _ port: Int, _ folder: ScratchFolder, _ options: [String], _ isEncrypted: Bool, _ process: TestProcess
  ) {
    self.port = port
    self.folder = folder
    self.options = options
    self.isEncrypted = isEncrypted
    self.process = Mutex(process)
  }

  deinit { process.withLock { $0.send(SIGKILL) } }

  private static func launch(
    _ port: Int, _ folder: ScratchFolder, _ options: [String], _ isEncrypted: Bool
  ) async throws -> TestProcess {
    guard let program = RedisProgram.server else { throw NotStarted() }
    let ports = isEncrypted ? ["--port", "0", "--tls-port", "\(port)"] : ["--port", "\(port)"]
    return try await TestProcess(
      [program] + ports + [
        "--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--appendonly", "no",
        "--maxmemory", "64mb", "--daemonize", "no", "--logfile", folder.path("log"),
      ] + options)
  }

  /// Waits until it answers; false if it ended.
  ///
  /// - Parameter starts: how often the log must tell of a start.
  private func isReady(starts: Int) async -> Bool {
    while !process.withLock({ $0.isEnded }), !Task.isCancelled {
      if starts <= self.starts { return true }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  private var starts: Int { log.ranges(of: Self.ready).count }

  /// The log of the server.
  package var log: String {
    String(decoding: folder.file("log").bytes ?? [], as: UTF8.self)
  }

  /// The number of the process.
  package var pid: Int32 { process.withLock { $0.pid } }

  /// Sends it a signal.
  package func signal(_ signal: Int32) { process.withLock { $0.send(signal) } }

  /// Kills it, and waits for its end.
  package func kill() async {
    let process = process.withLock { $0 }
    process.send(SIGKILL)
    _ = await process.end()
  }

  /// Starts it again after it ended, on the same port.
  package func restart() async throws {
    for _ in 0..<20 {
      let before = starts
      let new = try await Self.launch(port, folder, options, isEncrypted)
      process.withLock { $0 = new }
      if await isReady(starts: before + 1) { return }
    }
    throw NotStarted()
  }
}
