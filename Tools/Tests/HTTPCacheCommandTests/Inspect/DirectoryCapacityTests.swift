import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The capacity belongs to the directory: a later command without the option changes and evicts nothing.
@Suite(.timeLimit(.minutes(10))) struct DirectoryCapacityTests {
  private struct Settings: Decodable {
    var capacity: Int64
    var minFree: Int64
  }

  private let directory: ScratchFolder
  private var cache: String { directory.path("cache") }

  init() throws { directory = try ScratchFolder() }

  private func settings() async throws -> Settings {
    let run = await CommandRun.success("config", "--dir", cache, "--json")
    return try JSONDecoder().decode(Settings.self, from: Data(run.output.utf8))
  }

  private func count() async -> Int {
    await CommandRun("ls", "--dir", cache, "--json").output.split(separator: "\n").count
  }

  @Test("get, ls, serve and stats without the option keep the limits that config set")
  func kept() async throws {
    let made = await CommandRun.success("config", "--dir", cache, "--capacity", "3G", "--min-free", "0")
    #expect(made.output.contains("capacity    3.0 GiB, "))
    try await DemoOrigin.withOrigin { origin in
      for resource in [DemoResource.page, .image] {
        let run = await CommandRun("get", origin.base + resource.rawValue, "--dir", cache)
        #expect(run.status == 0 && !run.errors.contains("capacity"), "\(run.errors)")
      }
    }
    #expect(await count() == 2)
    let serve = try ServeCommand.parse(["--upstream", "http://127.0.0.1:1", "--dir", cache])
    let opened = try serve.openCache(LineWriter(descriptor: STDERR_FILENO), observer: EventCounts(), nil)
    #expect(opened.usage.diskCapacity == 3 << 30)
    await opened.flush()
    #expect(await count() == 2)
    #expect(try await settings().capacity == 3 << 30)
    #expect(try await settings().minFree == 0)
    let stats = await CommandRun("stats", "--dir", cache)
    #expect(stats.output.contains("capacity    3.0 GiB, "))
  }

  @Test(
    "an explicit --capacity of get becomes that of the directory; the change, and what it evicts, is told")
  func explicit() async throws {
    try await DemoOrigin.withOrigin { origin async throws in
      let page = origin.base + DemoResource.page.rawValue
      let first = await CommandRun("get", page, "--dir", cache, "--capacity", "2G")
      #expect(!first.errors.contains("capacity"), "a new directory has no other: \(first.errors)")
      _ = await CommandRun(
        "get", origin.base + DemoResource.file.rawValue, "--dir", cache, "-o", directory.path("o"))
      #expect(await count() == 2)
      let same = await CommandRun("get", page, "--dir", cache, "--capacity", "2G")
      #expect(!same.errors.contains("capacity"))
      let less = await CommandRun("get", page, "--dir", cache, "--capacity", "4M")
      #expect(
        less.errors.contains("the capacity of the cache is now 4.0 MiB, it was 2.0 GiB; 60"), "\(less.errors)"
      )
      #expect(less.errors.contains("of stored responses are evicted"))
      #expect(try await settings().capacity == 4 << 20)
    }
  }

  @Test("config with a smaller capacity evicts before it ends, and tells it")
  func shrink() async throws {
    try await DemoOrigin.withOrigin { origin in
      _ = await CommandRun(
        "get", origin.base + DemoResource.file.rawValue, "--dir", cache, "-o", directory.path("o"))
    }
    let run = await CommandRun.success("config", "--dir", cache, "--capacity", "4M")
    #expect(run.errors.contains("evicted 1 response, 64"), "\(run.errors)")
    #expect(await count() == 0)
  }

  @Test(
    "config refuses a capacity that an empty index fills, and changes nothing", arguments: ["1", "10", "4K"])
  func refused(capacity: String) async throws {
    await CommandRun.success("config", "--dir", cache, "--capacity", "2G", "--min-free", "0")
    let run = await CommandRun.failure(
      .usage, "config", "--dir", cache, "--capacity", capacity, "--min-free", "1M")
    #expect(
      run.errors.hasPrefix(
        "httpcache: --capacity \(capacity): nothing can be stored: a cache with one entry"),
      "\(run.errors)")
    #expect(try await settings().capacity == 2 << 30)
    #expect(try await settings().minFree == 0)
  }

  @Test("config and serve warn of a capacity of 0")
  func tooSmall() async throws {
    for arguments in [["--capacity", "0"], []] {
      let run = await CommandRun.success(["config", "--dir", cache] + arguments)
      #expect(
        run.errors.hasPrefix("httpcache: warning: nothing can be stored: a cache with one entry takes "),
        "\(run.errors)")
    }
    let serve = try ServeCommand.parse(["--upstream", "http://127.0.0.1:1", "--dir", cache])
    let log = try FileHandle(forUpdating: URL(fileURLWithPath: directory.write("".utf8, to: "log")))
    let messages = LineWriter(descriptor: log.fileDescriptor)
    _ = try serve.openCache(messages, observer: serve.observer(messages), nil)
    await messages.flush()
    let text = String(decoding: try #require(directory.file("log").bytes), as: UTF8.self)
    #expect(text.contains("nothing can be stored: a cache with one entry takes "), "\(text)")
    #expect(text.contains("; responses are stored in memory only\n"), "\(text)")
    let enough = await CommandRun("config", "--dir", cache, "--capacity", "4M")
    #expect(enough.status == 0 && enough.errors.isEmpty, "\(enough.errors)")
  }

  @Test("config neither shows a missing directory, nor makes a cache among other files")
  func noDirectory() async throws {
    await CommandRun.failure(.cacheUnavailable, "config", "--dir", directory.path("absent"))
    #expect(!directory.file("absent").exists)
    try directory.write("mine".utf8, to: "letter.txt")
    let among = await CommandRun.failure(
      .cacheUnavailable, "config", "--dir", directory.path, "--capacity", "1G")
    #expect(among.errors.contains("has no cache but other files (letter.txt)"), "\(among.errors)")
    #expect(!directory.file("Cache.db").exists)
  }
}
