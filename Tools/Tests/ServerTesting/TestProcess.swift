import Foundation
import HTTPCacheLibC
import Synchronization

/// A program as a process of its own. It is killed when this object is no longer used; on Linux it also ends with the
/// process of the tests, however that ends.
///
/// Not by `Foundation.Process`: on Linux `Process.run()` reads beyond the end of the list of open descriptors, which
/// crashes when some hundred are open.
package final class TestProcess: Sendable {
  private struct Failure: Error {
    let code: Int32
  }

  /// The number of the process.
  package let pid: Int32
  private let hasEnded: Flag
  private let exit: Task<Int32, Never>

  private final class Flag: Sendable {
    let value = Mutex(false)
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - command: its path and its arguments.
  ///   - output: its standard output; nil for none.
  ///   - errors: its standard error; nil for none.
  package init(_ command: [String], output: Int32? = nil, errors: Int32? = nil) async throws {
    let setpriv = "/usr/bin/setpriv"
    let canEnd = FileManager.default.isExecutableFile(atPath: setpriv)
    let (flag, words) = (Flag(), (canEnd ? [setpriv, "--pdeathsig", "KILL"] : []) + command)
    let (ends, continuation) = AsyncStream<Int32>.makeStream()
    pid = try await withCheckedThrowingContinuation { started in
      // The signal comes when the thread ends that started the process: this one waits for it.
      Thread.detachNewThread {
        let spawned = Result { try Self.spawn(words, output: output, errors: errors) }
        started.resume(with: spawned)
        guard let pid = try? spawned.get() else { return }
        continuation.yield(Self.wait(for: pid, flag))
        continuation.finish()
      }
    }
    hasEnded = flag
    exit = Task {
      for await status in ends { return status }
      return .min
    }
  }

  deinit { send(SIGKILL) }

  /// Sends a signal, unless the process has ended.
  package func send(_ signal: Int32) { hasEnded.value.withLock { if !$0 { kill(pid, signal) } } }

  /// Whether the process has ended.
  package var isEnded: Bool { hasEnded.value.withLock { $0 } }

  /// The status that it ends with; a signal that ends it is negative.
  package func end() async -> Int32 { await exit.value }

  /// Its resource limits as `/proc` shows them.
  package var limits: String { (try? String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)) ?? "" }

  /// The file of a descriptor, as `/proc` shows it; nil if it is closed.
  package func file(of descriptor: Int32) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(descriptor)")
  }

  /// The names of its threads as `/proc` shows them.
  package var threadNames: [String] {
    let folder = "/proc/\(pid)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return threads.compactMap { try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8) }
  }

  /// Waits for the end of a process. Its number is not given to another process before `hasEnded` says so.
  private static func wait(for pid: pid_t, _ hasEnded: Flag) -> Int32 {
    var (info, status) = (siginfo_t(), Int32(0))
    while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    hasEnded.value.withLock {
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      $0 = true
    }
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
  }

  private static func spawn(_ words: [String], output: Int32?, errors: Int32?) throws -> pid_t {
    #if canImport(Darwin)
      var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
    #else
      var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    }
    if let errors {
      posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    var flags = Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
    // No descriptor of a test may stay open in a child.
    #if canImport(Darwin)
      flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      for descriptor in STDERR_FILENO + 1..<4096 { posix_spawn_file_actions_addclose(&actions, descriptor) }
    #endif
    // The process of the tests ignores SIGPIPE, for one.
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
    var (argv, envp) = (words.map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
    defer { for pointer in argv + envp { free(pointer) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, words[0], &actions, &attributes, &argv, &envp)
    guard code == 0 else { throw Failure(code: code) }
    return pid
  }
}
