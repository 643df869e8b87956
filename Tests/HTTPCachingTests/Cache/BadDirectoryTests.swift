import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

/// A directory that cannot be used, or is damaged in use, loses stored responses, but never a request, and
/// never causes a wrong body.
@Suite(.timeLimit(.minutes(10))) struct BadDirectoryTests {
  private static let count = 300_000

  private func test(_ directory: URL) throws -> TestCache<RangeOrigin> {
    try TestCache(
      .memoryOverDisk,
      origin: RangeOrigin(count: Self.count, [.cacheControl: "max-age=60", .eTag: "\"a\""])
    ) {
      $0.directory = directory.path
      $0.memoryCapacity = 1 << 20
      $0.largestEntry = .bytes(16 << 20)
    }
  }

  private func expectAnswers(_ test: TestCache<RangeOrigin>, _ what: String = "") async throws {
    for _ in 0..<4 { #expect(try await test.get().text == test.origin.text, "\(what)") }
    #expect(try await test.range("bytes=100-199").text.count == 100, "\(what)")
  }

  private func told(_ test: TestCache<RangeOrigin>) -> Int {
    test.events.count { if case .storeFailed = $0 { true } else { false } }
  }

  @Test("a directory that cannot be made leaves the cache in memory, and is told")
  func noDirectory() async throws {
    let folder = try ScratchFolder()
    let file = folder.url("file")
    try Data("plain".utf8).write(to: file)
    for place in [file, file.appendingPathComponent("below"), URL(fileURLWithPath: "/proc/cache")] {
      let test = try test(place)
      #expect(told(test) == 1)
      try await expectAnswers(test, place.path)
      #expect(test.origin.requests.count == 1, "memory has it")
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == "plain")
  }

  @Test(
    "a file system that is full or read-only leaves the cache in memory, and is told",
    .enabled(if: geteuid() == 0, "needs root, to mount"), arguments: ["size=1m", "size=64k", "ro,size=1m"])
  func mounted(options: String) async throws {
    let folder = try ScratchFolder()
    let isReadOnly = options.hasPrefix("ro,")
    guard
      mount(
        "tmpfs", folder.path, "tmpfs", isReadOnly ? UInt(MS_RDONLY) : 0,
        isReadOnly ? String(options.dropFirst(3)) : options) == 0
    else {
      // Root in a container may not mount.
      return
    }
    defer { umount2(folder.path, Int32(MNT_DETACH)) }
    // With 1 MiB, only the counters fit beside this.
    if options == "size=1m" {
      try Data(count: 700_000).write(to: folder.url("somebody else's"))
    }
    let test = try test(folder.url("cache"))
    try await expectAnswers(test, options)
    #expect(told(test) > 0)
  }

  @Test(
    "what is spoilt while it is in use is a miss",
    arguments: ["body", "body cut", "index", "index cut", "log cut", "folder gone", "folder emptied"])
  func spoilt(what: String) async throws {
    let folder = try ScratchFolder()
    let cache = folder.url("cache")
    let test = try test(cache)
    // Once in memory, it would correctly be answered from memory.
    try await test.cache.store.setCapacity(memory: 0, disk: nil)
    try await expectAnswers(test)
    #expect(test.origin.requests.count == 1)
    let names = try FileManager.default.subpathsOfDirectory(atPath: cache.path)
    let body = try #require(names.first { $0.hasPrefix("bodies/") && $0.split(separator: "/").count == 2 })
    switch what {
    case "body": try overwrite(cache.path + "/" + body, at: 299_999)
    case "body cut": #expect(truncate(cache.path + "/" + body, 1_000) == 0)
    case "index": try overwrite(cache.path + "/Cache.db", at: 0)
    case "index cut": #expect(truncate(cache.path + "/Cache.db", 5_000) == 0)
    case "log cut": #expect(truncate(cache.path + "/Cache.db-wal", 100) == 0)
    case "folder gone": try FileManager.default.removeItem(at: cache)
    default:
      for name in try FileManager.default.contentsOfDirectory(atPath: cache.path) {
        try FileManager.default.removeItem(atPath: cache.path + "/" + name)
      }
    }
    var wrong = 0
    for _ in 0..<6 {
      // A body that is found damaged while it is read breaks off; it is never wrong.
      guard let answer = try? await test.get() else {
        wrong += 1
        continue
      }
      #expect(answer.text == test.origin.text)
    }
    #expect(wrong <= 1)
    #expect(try await test.get().text == test.origin.text)
  }
}
