import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// `serve --check` finds what a start would find.
@Suite(.timeLimit(.minutes(10))) struct ServeCheckTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func check(_ text: String) async throws -> (path: String, run: CommandRun) {
    let path = try directory.write("upstream: http://127.0.0.1:1\n\(text)".utf8, to: "serve.yaml")
    return (path, await CommandRun("serve", "--config", path, "--check"))
  }

  @Test("nothing is left behind where a start would make a directory, a log and listeners")
  func untouched() async throws {
    let text = """
      listen: 127.0.0.1:0
      admin: 127.0.0.1:0
      dir: \(directory.path("new/cache"))
      access-log-file: \(directory.path("log"))
      """
    let (path, run) = try await check(text)
    #expect(run.status == 0 && run.output == "\(path): valid\n" && run.errors.isEmpty, "\(run.errors)")
    #expect(!directory.file("new").exists && !directory.file("log").exists)
  }

  @Test("the folder of the log is missing, or the log is a folder")
  func log() async throws {
    for (name, reason) in [("none/log", "its folder does not exist"), ("", "is a directory")] {
      let log = directory.path(name)
      let (path, run) = try await check("listen: 127.0.0.1:0\ncapacity: 0\naccess-log-file: \(log)\n")
      #expect(run.status == ExitStatus.failure.rawValue)
      #expect(
        run.errors
          == "httpcache: \(path), line 4: access-log-file: cannot open \(log): \(reason)\n"
      )
    }
    #expect(!directory.file("none").exists)
  }

  @Test("a seed or a key that cannot be read", arguments: ["seed", "encryption-key-file"])
  func otherFiles(key: String) async throws {
    let (path, run) = try await check("listen: 127.0.0.1:0\ncapacity: 0\n\(key): \(directory.path("none"))\n")
    #expect(run.status != 0)
    #expect(run.errors.hasPrefix("httpcache: \(path), line 4: \(key): "), "\(run.errors)")
    #expect(run.errors.contains(directory.path("none")), "\(run.errors)")
  }

  @Test("the directory of the cache cannot be made, or is not one for a cache")
  func cacheDirectory() async throws {
    try directory.write("".utf8, to: "file")
    var unusable = [directory.path("file/below"), directory.path]
    // Root may write everywhere.
    if geteuid() != 0 {
      unusable.append(directory.path("closed/below"))
      try FileManager.default.createDirectory(
        atPath: directory.path("closed"), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o500])
    }
    for dir in unusable {
      let text = "listen: 127.0.0.1:0\ndir: \(dir)\n"
      let (path, run) = try await check(text)
      #expect(run.status == ExitStatus.cacheUnavailable.rawValue, "\(run.errors)")
      #expect(
        run.errors.hasPrefix("httpcache: \(path), line 3: dir: cannot use the cache directory \(dir): "),
        "\(run.errors)")
      let (_, going) = try await check(text + "allow-no-cache: true\n")
      #expect(going.status == 0)
      #expect(going.errors.hasSuffix("; the server would store in memory alone\n"), "\(going.errors)")
    }
  }

  @Test(
    "a memory in which no small response has room is a warning, unless the directory stores instead of it",
    arguments: [
      (
        "memory: 1\ncapacity: 0",
        "nothing can be stored: a small response takes about 2 KiB, and --memory is 1 B\n"
      ),
      (
        "memory: 0\ncapacity: 0",
        "nothing can be stored: a small response takes about 2 KiB, and --memory is 0 B\n"
      ),
      (
        "memory: 1100",
        "almost nothing can be stored in memory: a small response takes about 2 KiB, and --memory is 1.1 KiB\n"
      ),
      ("memory: 0", nil), ("memory: 4K", nil), ("memory: 1M\ncapacity: 0", nil),
    ] as [(String, String?)])
  func memory(text: String, warning: String?) async throws {
    let (_, run) = try await check("listen: 127.0.0.1:0\ndir: \(directory.path("new"))\n\(text)\n")
    #expect(run.status == 0)
    #expect(run.errors == warning.map { "httpcache: warning: \($0)" } ?? "")
  }

  @Test("a log in the directory of a cache that is not made yet, and an index that is a folder")
  func directoryWithOthers() async throws {
    let dir = directory.path("new")
    let (_, run) = try await check("listen: 127.0.0.1:0\ndir: \(dir)\naccess-log-file: \(dir)/log\n")
    #expect(run.status != 0)
    try FileManager.default.createDirectory(atPath: dir, withIntermediateDirectories: false)
    let (_, again) = try await check("listen: 127.0.0.1:0\ndir: \(dir)\naccess-log-file: \(dir)/log\n")
    #expect(again.status == ExitStatus.cacheUnavailable.rawValue)
    #expect(again.errors.contains("before a cache; put it elsewhere"), "\(again.errors)")
  }

  @Test("a recording that cannot be read or made")
  func recording() async throws {
    let file = directory.path("a.har")
    let config = try await check("listen: 127.0.0.1:0\n").path
    func status(_ options: String...) async -> Int32 {
      await CommandRun(["serve", "--config", config, "--check"] + options).status
    }
    #expect(await status("--replay", file) == ExitStatus.cacheUnavailable.rawValue)
    try directory.write("{}".utf8, to: "a.har")
    #expect(await status("--replay", file) == ExitStatus.cacheUnavailable.rawValue)
    for place in [directory.path("none/a"), directory.path] { #expect(await status("--record", place) != 0) }
    #expect(await status("--record", directory.path("new.har")) == 0)
    #expect(!directory.file("new.har").exists)
  }

  @Test("a seed that does not exist")
  func seed() async throws {
    let seed = directory.path("none.har")
    let (_, run) = try await check("listen: 127.0.0.1:0\ncapacity: 0\nseed: \(seed)\n")
    #expect(run.status != 0)
    #expect(run.errors.contains(seed), "\(run.errors)")
  }

  @Test(
    "an address in use is a warning: the server that runs may have it; one of another machine is an error")
  func listeners() async throws {
    let origin = try await ScriptedOrigin("")
    let used = String(origin.base.dropFirst("http://".count))
    for keys in ["listen: \(used)", "listen: 127.0.0.1:0\nadmin: \(used)"] {
      let (path, run) = try await check("capacity: 0\n\(keys)\n")
      #expect(run.status == 0 && run.output == "\(path): valid\n")
      #expect(run.errors.hasPrefix("httpcache: warning: \(used) is in use; "), "\(run.errors)")
    }
    #if os(Linux)
      // The check releases the address. No other test uses this one.
      for _ in 0..<2 {
        #expect(try await check("capacity: 0\nlisten: 127.91.7.3:18080\n").run.errors.isEmpty)
      }
    #endif
    let (path, run) = try await check("capacity: 0\nlisten: 192.0.2.1:8080\nallow-remote: true\n")
    #expect(run.status == ExitStatus.failure.rawValue)
    #expect(run.errors.hasPrefix("httpcache: \(path), line 3: listen: cannot listen on 192.0.2.1:8080: "))
  }

  @Test("one address for both listeners is refused")
  func sameAddress() async throws {
    let (path, run) = try await check("listen: 127.0.0.1:9\nadmin: 127.0.0.1:9\n")
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(
      run.errors
        == "httpcache: \(path), line 2: listen and --admin must differ (both are 127.0.0.1:9).\n")
  }
}
