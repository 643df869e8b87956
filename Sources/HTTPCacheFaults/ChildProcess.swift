import HTTPCacheLibC

/// A started program, with a pipe from its standard output.
package final class ChildProcess: Sendable {
  /// How a program ended.
  package enum End: Sendable, Hashable {
    case exited(Int32)
    case killed(Int32)
    /// Other code of this process has waited for it, and knows how.
    case unknown

    /// Whether a program ended as one that is killed at some moment: by this signal, or before it without an error.
    /// Any other signal is a crash.
    package var isExpectedOfKill: Bool { self == .killed(SIGKILL) || self == .exited(0) }
  }

  private let id: Int32
  private let output: Int32

  /// Starts a program.
  package init(_ program: String, _ arguments: [String]) throws(FaultError) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw FaultError("no pipe: \(String(cString: strerror(errno)))") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var list: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for text in list { free(text) } }
    var started: pid_t = 0
    let result = posix_spawn(&started, program, &actions, nil, &list, environ)
    close(ends[1])
    guard result == 0 else {
      close(ends[0])
      throw FaultError("\(program): \(String(cString: strerror(result)))")
    }
    id = started
    output = ends[0]
  }

  deinit { close(output) }

  /// Kills it.
  package func kill() { _ = signal(SIGKILL) }

  private func signal(_ number: Int32) -> Int32 { HTTPCacheLibC.kill(id, number) }

  /// Reads its output until it ends, on the calling thread.
  package func readToEnd() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(output, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Waits until it has ended, on the calling thread.
  package func wait() -> End {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 {
      guard errno == EINTR else { return .unknown }
    }
    return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
  }
}
