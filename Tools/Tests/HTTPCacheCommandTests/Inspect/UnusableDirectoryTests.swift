import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// A `--dir` that cannot have a cache.
@Suite(.timeLimit(.minutes(10))) struct UnusableDirectoryTests {
  /// A file, a path below a file, a directory with other files, and one whose index is of something else.
  enum Place: CaseIterable {
    case file, belowFile, otherFiles, otherDatabase

    func make(in directory: ScratchFolder) throws -> String {
      let path = directory.path("place")
      switch self {
      case .file, .belowFile:
        try directory.write("mine".utf8, to: "place")
        return self == .file ? path : path + "/below"
      case .otherFiles:
        try directory.makeFolder("place")
        try directory.write("mine".utf8, to: "place/letter.txt")
      case .otherDatabase:
        try directory.makeFolder("place")
        let store = try DiskStore.open(directory: path)
        withExtendedLifetime(store) {}
        // The format of a later version.
        let index = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/Cache.db"))
        try index.seek(toOffset: 60)
        try index.write(contentsOf: Data([0, 0, 1, 0]))
        try index.close()
      }
      return path
    }
  }

  @Test("serve refuses to start, and names the directory and the option", arguments: Place.allCases)
  func serve(place: Place) async throws {
    let directory = try ScratchFolder()
    let path = try place.make(in: directory)
    let command = try ServeCommand.parse(["--upstream", "http://127.0.0.1:1", "--dir", path])
    let log = try FileHandle(forUpdating: URL(fileURLWithPath: directory.write("".utf8, to: "log")))
    let messages = LineWriter(descriptor: log.fileDescriptor)
    let opened = Result { try command.openCache(messages, observer: EventCounts(), nil) }
    #expect(throws: (any Error).self) { try opened.get() }
    await messages.flush()
    let text = String(decoding: try #require(directory.file("log").bytes), as: UTF8.self)
    #expect(text.hasPrefix("httpcache: cannot use the cache directory \(path): "), "\(text)")
    #expect(!text.contains("\(path): \(path): "), "\(text)")
    // --allow-no-cache does not help against the index of a later version.
    #expect(text.contains(" (--allow-no-cache ") == (place != .otherDatabase), "\(text)")
    guard place != .otherDatabase else { return }
    let going = try ServeCommand.parse(
      ["--upstream", "http://127.0.0.1:1", "--dir", path, "--allow-no-cache"])
    let cache = try going.openCache(LineWriter(descriptor: STDERR_FILENO), observer: EventCounts(), nil)
    #expect(cache.usage.diskCapacity == 0)
  }

  @Test(
    "get fetches all the same, stores nothing there and says so",
    arguments: [Place.file, .belowFile, .otherFiles])
  func get(place: Place) async throws {
    let directory = try ScratchFolder()
    let path = try place.make(in: directory)
    try await DemoOrigin.withOrigin { origin in
      let run = await CommandRun.success(
        "get", origin.base + DemoResource.page.rawValue, "--dir", path, "-o", directory.path("out"))
      #expect(directory.file("out").bytes == DemoResource.page.block)
      #expect(run.errors.contains(path) && run.errors.contains("responses are not stored"), "\(run.errors)")
      #expect(run.errors.contains(": miss, not stored; "), "\(run.errors)")
    }
    #expect(!ScratchFile(path + "/Cache.db").exists)
  }
}
