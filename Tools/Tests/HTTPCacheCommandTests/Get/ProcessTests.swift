import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The command as a process: signals and terminals.
@Suite(.timeLimit(.minutes(10))) struct ProcessTests {
  private static let content = ServedFile.bytes(300_000)

  /// An origin that holds the first response after `cut` bytes, and sends the rest to the second request.
  private func origin(cut: Int, fields: String) async throws -> ScriptedOrigin {
    var file = ServedFile(content: Self.content, fields: fields)
    let whole = file
    (file.cut, file.isHeld) = (cut, true)
    return try await ScriptedOrigin(file, whole)
  }

  /// Starts `get`, and waits until the part has the bytes that the origin sends first.
  private func begin(_ arguments: [String], in directory: ScratchFolder) async throws -> CommandProcess {
    let process = try await CommandProcess(arguments, in: directory)
    try await eventually { directory.file("out.httpcache-part/body").bytes?.count == 200_000 }
    return process
  }

  @Test(
    "after SIGINT, SIGTERM and SIGKILL a response that is not stored is continued from its part file",
    arguments: [SIGINT, SIGTERM, SIGKILL])
  func continued(signal: Int32) async throws {
    let directory = try ScratchFolder()
    let origin = try await origin(cut: 200_000, fields: "Cache-Control: no-store")
    let arguments = ["get", origin.base, "--dir", directory.path("cache"), "-o", directory.path("out")]
    let process = try await begin(arguments, in: directory)
    process.signal(signal)
    let first = try await process.end()
    if signal != SIGKILL {
      #expect(first.status == ExitStatus.interrupted.rawValue)
      #expect(
        first.errors.contains(
          ": interrupted; 195 KiB of 293 KiB kept in \(directory.path("out.httpcache-part")), "
            + "run again to continue\n"))
    }
    #expect(directory.file("out").bytes == nil)
    let run = await CommandRun(arguments)
    #expect(run.errors.contains(": continued: 195 KiB from "), "\(run.errors)")
    #expect(directory.file("out").bytes == Self.content)
    #expect(origin.requests.map(\.start) == [nil, 200_000])
  }

  @Test("after SIGINT a response that the cache stores is continued from the cache")
  func continuedFromCache() async throws {
    let directory = try ScratchFolder()
    let origin = try await origin(cut: 200_000, fields: "Cache-Control: max-age=60")
    let arguments = ["get", origin.base, "--dir", directory.path("cache"), "-o", directory.path("out")]
    let process = try await begin(arguments, in: directory)
    process.signal(SIGINT)
    let first = try await process.end()
    #expect(first.errors.contains(": interrupted; 195 KiB of 293 KiB kept, run again to continue\n"))
    let run = await CommandRun(arguments)
    #expect(run.errors.contains(": continued: 195 KiB from the cache, 97.7 KiB fetched"))
    #expect(directory.file("out").bytes == Self.content)
    #expect(!directory.file("out.httpcache-part").exists)
  }

  @Test("SIGINT ends a process that waits for the reader of a FIFO, and one whose reader takes nothing")
  func blocked() async throws {
    let directory = try ScratchFolder()
    let content = ServedFile(content: ServedFile.bytes(1_000_000))
    let origin = try await ScriptedOrigin { content.answer($0) }
    let path = directory.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    for hasReader in [false, true] {
      let reader = hasReader ? open(path, O_RDONLY | O_NONBLOCK) : -1
      defer { if reader >= 0 { close(reader) } }
      let count = origin.requests.count
      let process = try await CommandProcess(
        ["get", origin.base + "/\(hasReader)", "--dir", directory.path("cache"), "-o", path], in: directory)
      try await eventually { origin.requests.count > count }
      process.signal(SIGINT)
      #expect(try await process.end().status == ExitStatus.interrupted.rawValue)
    }
  }

  #if os(Linux)
    @Test(
      "an output that cannot be written has a status and a message",
      arguments: [["--help"], ["config"], ["get", "--json"]])
    func fullOutput(_ command: [String]) async throws {
      let directory = try ScratchFolder()
      let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
      let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
      try #require(full >= 0)
      defer { close(full) }
      let place = command == ["--help"] ? [] : ["--dir", directory.path("cache")]
      let get = ["get", origin.base, "--dir", directory.path("cache"), "-o", directory.path("a")]
      #expect(await CommandRun(get).status == 0)
      let arguments = command + place + (command.first == "get" ? [origin.base] : [])
      let process = try await CommandProcess(arguments, in: directory, output: full)
      let (status, errors) = try await process.end()
      #expect(status == ExitStatus.output.rawValue)
      #expect(errors.contains("cannot write to standard output: No space left on device"), "\(errors)")
    }

    @Test("a binary body is kept off a terminal, and -o - shows it all the same")
    func terminal() async throws {
      let directory = try ScratchFolder()
      let binary = try await ScriptedOrigin(
        bytes: Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8) + [65, 0, 66, 0, 67])
      let text = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
      let refused = try await onTerminal(["get", binary.base, "--dir", directory.path("cache")], directory)
      #expect(refused.status == ExitStatus.output.rawValue)
      #expect(
        refused.errors.contains(
          "the body is binary and may disturb the terminal; -o FILE writes it to a file"))
      #expect(refused.shown.isEmpty)
      let forced = try await onTerminal(
        ["get", binary.base, "--dir", directory.path("cache"), "-o", "-"], directory)
      #expect(forced.status == 0)
      #expect(forced.shown == [65, 0, 66, 0, 67])
      let shown = try await onTerminal(["get", text.base, "--dir", directory.path("cache")], directory)
      #expect(shown.status == 0)
      #expect(shown.shown == Array("hello".utf8))
    }

    private func onTerminal(
      _ arguments: [String], _ directory: ScratchFolder
    ) async throws -> (status: Int32, errors: String, shown: [UInt8]) {
      let (master, slave) = try Self.terminal()
      defer { close(master) }
      let process = try await CommandProcess(arguments, in: directory, output: slave)
      let (status, errors) = try await process.end()
      close(slave)
      _ = fcntl(master, F_SETFL, O_NONBLOCK)
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(master, &buffer, buffer.count)
      return (status, errors, Array(buffer.prefix(max(0, count))))
    }

    /// Both ends of a pseudo-terminal, by the requests of Linux: Glibc's module does not have `posix_openpt`.
    private static func terminal() throws -> (master: Int32, slave: Int32) {
      let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
      let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var (isLocked, number) = (Int32(0), Int32(0))
      try #require(ioctl(master, setLock, &isLocked) == 0)
      try #require(ioctl(master, getNumber, &number) == 0)
      return (master, open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC))
    }
  #endif
}
