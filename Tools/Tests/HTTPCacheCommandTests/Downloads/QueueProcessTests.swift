import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// A process that downloads through a queue, and signals.
@Suite(.timeLimit(.minutes(10))) struct QueueProcessTests {
  private static let content = ServedFile.bytes(3_000_000)

  private static let whole = ServedFile(content: content, fields: "Cache-Control: max-age=60")
  /// Its transfer stops after 2.5 MB.
  private static var held: ServedFile {
    var file = whole
    (file.cut, file.isHeld) = (2_500_000, true)
    return file
  }

  @Test(
    "after SIGINT, SIGTERM and SIGKILL, downloads resume makes the file, and asks for the rest only",
    arguments: [SIGINT, SIGTERM, SIGKILL])
  func resumed(signal: Int32) async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin(Self.held, Self.whole)
    let events = directory.file("events")
    try #require(FileManager.default.createFile(atPath: events, contents: nil))
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: events))
    let cache = ["--queue", "films", "--dir", directory.file("cache")]
    let process = try await CommandProcess(
      ["get", "--json", origin.base + "/film", "-o", directory.file("film")] + cache, in: directory,
      output: output.fileDescriptor)
    try await eventually { Self.size(of: directory.file("cache/bodies")) >= 2_000_000 }
    process.signal(signal)
    let first = try await process.end()
    if signal != SIGKILL {
      #expect(first.status == ExitStatus.interrupted.rawValue)
      #expect(
        first.errors.contains(
          "interrupted; 1 download left in the queue films; continue with: httpcache downloads resume "
            + "--queue films --dir \(directory.file("cache"))\n"), "\(first.errors)")
    }
    #expect(directory.contents("film") == nil)
    let run = await CommandRun(["downloads", "resume"] + cache)
    #expect(run.status == 0, "\(run.errors)")
    #expect(directory.contents("film") == Self.content)
    #expect(origin.requests.count == 2)
    #expect((origin.requests.last?.start ?? 0) >= 1_400_000)
    try output.close()
    try await origin.close()
  }

  @Test(
    "downloads of a queue that another process runs are paused, resumed and removed by asking that process")
  func asked() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { Self.held.answer($0) }
    let cache = ["--queue", "films", "--dir", directory.file("cache")]
    let process = try await CommandProcess(
      ["get", "-j", "1", origin.base + "/film", origin.base + "/second"] + cache, in: directory)
    try await eventually { Self.size(of: directory.file("cache/bodies")) >= 2_000_000 }
    let removed = await CommandRun(["downloads", "remove", origin.base + "/second"] + cache)
    #expect(
      removed.output == "asked the process that runs the queue to remove 1 download\n", "\(removed.errors)")
    let resumed = await CommandRun(["downloads", "resume"] + cache)
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.output.hasPrefix("asked the process that runs the queue to continue "))
    let unknown = await CommandRun(["downloads", "pause", "https://example.com/"] + cache)
    #expect(unknown.status == 1)
    let paused = await CommandRun(["downloads", "pause", origin.base + "/film"] + cache)
    #expect(
      paused.output == "asked the process that runs the queue to pause 1 download\n", "\(paused.errors)")
    let end = try await process.end()
    #expect(end.status == 1)
    #expect(
      end.errors.contains("1 download paused in the queue films; continue with: httpcache downloads resume"),
      "\(end.errors)")
    let list = await CommandRun(["downloads", "list"] + cache)
    #expect(list.output.contains("paused") && !list.output.contains("/second"), "\(list.output)")
    try await origin.close()
  }

  @Test("a download that another process cancels ends the transfer, and the command fails")
  func cancelled() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { Self.held.answer($0) }
    let cache = ["--queue", "films", "--dir", directory.file("cache")]
    let process = try await CommandProcess(["get", origin.base + "/film"] + cache, in: directory)
    try await eventually { Self.size(of: directory.file("cache/bodies")) >= 2_000_000 }
    let cancelled = await CommandRun(["downloads", "cancel", origin.base + "/film"] + cache)
    #expect(
      cancelled.output == "asked the process that runs the queue to cancel 1 download\n",
      "\(cancelled.errors)")
    let end = try await process.end()
    #expect(
      end.status == 1 && end.errors.contains("1 download cancelled in the queue films"), "\(end.errors)")
    #expect(await CommandRun(["downloads", "list"] + cache).output.contains("cancelled"))
    try await origin.close()
  }

  /// The bytes of all files below a folder.
  private static func size(of folder: String) -> Int {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.reduce(0) { total, name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      guard attributes?[.type] as? FileAttributeType == .typeRegular else { return total }
      return total + (attributes?[.size] as? Int ?? 0)
    }
  }
}
