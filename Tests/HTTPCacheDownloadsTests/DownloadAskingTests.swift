import Foundation
import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCaching
import Testing

/// Changes that another process asks for.
@Suite(.timeLimit(.minutes(10))) struct DownloadAskingTests {
  private func ask(_ change: DownloadQueue.Change, _ id: DownloadID, _ kitchen: DownloadKitchen) throws {
    try DownloadQueue.ask(for: change, of: [id], queue: "test", in: kitchen.cache)
  }

  private func pipe(_ kitchen: DownloadKitchen) -> URL {
    kitchen.list.deletingPathExtension().appendingPathExtension("requests")
  }

  @Test("the process that has the queue open pauses, resumes, cancels and removes")
  func changes() async throws {
    let kitchen = try DownloadKitchen(onDisk: true) { $0.totalLimit = 0 }
    let id = try kitchen.add()
    try ask(.pause, id, kitchen)
    #expect(await kitchen.wait(id) { $0 == .paused } != nil)
    try ask(.resume, id, kitchen)
    #expect(await kitchen.wait(id) { $0 == .waiting(.slot) } != nil)
    try ask(.cancel, id, kitchen)
    #expect(await kitchen.wait(id) { $0 == .cancelled } != nil)
    try ask(.remove, id, kitchen)
    for await _ in kitchen.queue.updates(of: id) {}
    #expect(kitchen.queue.downloads.isEmpty)
    await kitchen.queue.close()
  }

  @Test("500 requests at once all arrive")
  func many() async throws {
    let kitchen = try DownloadKitchen(onDisk: true) { $0.totalLimit = 0 }
    let ids = try (0..<500).map { try kitchen.add("/\($0)") }
    try DownloadQueue.ask(for: .pause, of: ids, queue: "test", in: kitchen.cache)
    for id in ids { #expect(await kitchen.wait(id) { $0 == .paused } != nil) }
    await kitchen.queue.close()
  }

  @Test("without a process that has the queue open, the request fails and says so")
  func nobodyReads() async throws {
    let kitchen = try DownloadKitchen(onDisk: true)
    let id = try kitchen.add()
    _ = try await kitchen.end(id)
    await kitchen.queue.close()
    #expect(!FileManager.default.fileExists(atPath: pipe(kitchen).path))
    let error = #expect(throws: DownloadError.self) { try ask(.pause, id, kitchen) }
    #expect(error?.code == .notOpen)
  }

  @Test("a file, a link or the pipe of a killed process at that place is neither written nor read")
  func others() async throws {
    let kitchen = try DownloadKitchen(onDisk: true)
    let id = try kitchen.add()
    _ = try await kitchen.end(id)
    await kitchen.queue.close()
    let other = kitchen.path("other")
    try Data("a".utf8).write(to: URL(fileURLWithPath: other))
    let steps: [() throws -> Void] = [
      { try Data().write(to: pipe(kitchen)) },
      { try FileManager.default.createSymbolicLink(atPath: pipe(kitchen).path, withDestinationPath: other) },
      { #expect(mkfifo(pipe(kitchen).path, 0o600) == 0) },
    ]
    for (number, step) in steps.enumerated() {
      try step()
      #expect(throws: DownloadError.self) { try ask(.pause, id, kitchen) }
      let queue = try kitchen.reopen { $0.totalLimit = 0 }
      let new = try queue.add(try kitchen.download("/\(number)"))
      try ask(.pause, new, kitchen)
      #expect(await kitchen.wait(new, in: queue) { $0 == .paused } != nil)
      await queue.close()
    }
    #expect(FileManager.default.contents(atPath: other) == Data("a".utf8))
  }

  @Test("lines that are no requests are ignored")
  func noRequests() async throws {
    let kitchen = try DownloadKitchen(onDisk: true) { $0.totalLimit = 0 }
    let id = try kitchen.add()
    let writer = try FileHandle(forWritingTo: pipe(kitchen))
    for line in ["\n", "pause\n", "pause x\n", "erase \(id)\n", "pause \(id) \(id)\n", "\0\n"] {
      try writer.write(contentsOf: Data(line.utf8))
    }
    try writer.write(contentsOf: Data([UInt8](repeating: 0xFF, count: 200_000)))
    try writer.write(contentsOf: Data("\npause \(id)\n".utf8))
    try writer.close()
    #expect(await kitchen.wait(id) { $0 == .paused } != nil)
    #expect(kitchen.queue.downloads.count == 1)
    await kitchen.queue.close()
  }
}
