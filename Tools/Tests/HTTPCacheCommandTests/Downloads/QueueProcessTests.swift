import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// A process that downloads through a queue, and signals.
@Suite(.timeLimit(.minutes(10))) struct QueueProcessTests {
  private static let content = ServedFile.bytes(3_000_000)

  private let directory: ScratchFolder
  private var cache: [String] { ["--queue", "films", "--dir", directory.path("cache")] }

  init() throws { directory = try ScratchFolder() }

  private static let whole = ServedFile(content: content, fields: "Cache-Control: max-age=60")
  /// Its transfer stops after 2.5 MB.
  private static var held: ServedFile {
    var file = whole
    (file.cut, file.isHeld) = (2_500_000, true)
    return file
  }

  /// Starts `get`, and waits until most of the held transfer has come.
  private func begin(_ options: [String], output: Int32? = nil) async throws -> CommandProcess {
    let process = try await CommandProcess(["get"] + options + cache, in: directory, output: output)
    try await eventually { Self.size(of: directory.path("cache/bodies")) >= 2_000_000 }
    return process
  }

  @Test(
    "after SIGINT, SIGTERM and SIGKILL, downloads resume makes the file, and asks for the rest only",
    arguments: [SIGINT, SIGTERM, SIGKILL])
  func resumed(signal: Int32) async throws {
    let origin = try await ScriptedOrigin(Self.held, Self.whole)
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.write("".utf8, to: "events")))
    let process = try await begin(
      ["--json", origin.base + "/film", "-o", directory.path("film")], output: output.fileDescriptor)
    process.signal(signal)
    let first = try await process.end()
    if signal != SIGKILL {
      #expect(first.status == ExitStatus.interrupted.rawValue)
      #expect(
        first.errors.contains(
          "interrupted; 1 download left in the queue films; continue with: httpcache downloads resume "
            + "--queue films --dir \(directory.path("cache"))\n"), "\(first.errors)")
    }
    #expect(directory.file("film").bytes == nil)
    await CommandRun.success(["downloads", "resume"] + cache)
    #expect(directory.file("film").bytes == Self.content)
    #expect(origin.requests.count == 2)
    #expect((origin.requests.last?.start ?? 0) >= 1_400_000)
    try output.close()
  }

  @Test(
    "downloads of a queue that another process runs are paused, resumed and removed by asking that process")
  func asked() async throws {
    let origin = try await ScriptedOrigin { Self.held.answer($0) }
    let process = try await begin(["-j", "1", origin.base + "/film", origin.base + "/second"])
    let running = await CommandRun(["downloads", "list"] + cache)
    #expect(running.output.contains("running") && running.output.contains("waiting"), "\(running.output)")
    let removed = await CommandRun(["downloads", "remove", origin.base + "/second"] + cache)
    #expect(
      removed.output == "asked the process that runs the queue to remove 1 download\n", "\(removed.errors)")
    let resumed = await CommandRun.success(["downloads", "resume"] + cache)
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
  }

  @Test("a download that another process cancels ends the transfer, and the command fails")
  func cancelled() async throws {
    let origin = try await ScriptedOrigin { Self.held.answer($0) }
    let process = try await begin([origin.base + "/film"])
    let cancelled = await CommandRun(["downloads", "cancel", origin.base + "/film"] + cache)
    #expect(
      cancelled.output == "asked the process that runs the queue to cancel 1 download\n",
      "\(cancelled.errors)")
    let end = try await process.end()
    #expect(
      end.status == 1 && end.errors.contains("1 download cancelled in the queue films"), "\(end.errors)")
    #expect(await CommandRun(["downloads", "list"] + cache).output.contains("cancelled"))
  }

  @Test(
    "a single URL of a queue without a file is refused if standard output is one, unless --queue is given")
  func standardOutput() async throws {
    let origin = try await ScriptedOrigin { Self.whole.answer($0) }
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.write("".utf8, to: "body")))
    let arguments = ["get", "--limit-rate", "1G", origin.base + "/film", "--dir", directory.path("cache")]
    let refused = try await CommandProcess(arguments, in: directory, output: output.fileDescriptor).end()
    #expect(
      refused.status == ExitStatus.usage.rawValue && refused.errors.contains("give -o FILE or -O"),
      "\(refused.errors)")
    #expect(origin.requests.isEmpty)
    let stored = try await CommandProcess(
      arguments + ["--queue", "films"], in: directory, output: output.fileDescriptor
    ).end()
    #expect(stored.status == 0, "\(stored.errors)")
    try output.close()
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
