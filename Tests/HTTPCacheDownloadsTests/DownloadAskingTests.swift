import Foundation
import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCaching
import Testing

/// Changes that another process asks for.
@Suite(.timeLimit(.minutes(10))) struct DownloadAskingTests {
  private func ask(_ change: DownloadQueue.Change, _ id: DownloadID, _ test: TestQueue) throws {
    try DownloadQueue.ask(for: change, of: [id], queue: "test", in: test.cache)
  }

  private func pipe(_ test: TestQueue) -> URL {
    test.list.deletingPathExtension().appendingPathExtension("requests")
  }

  @Test("the process that has the queue open pauses, resumes, cancels and removes")
  func changes() async throws {
    let test = try TestQueue(onDisk: true) { $0.totalLimit = 0 }
    let id = try test.add()
    try ask(.pause, id, test)
    #expect(await test.wait(id) { $0 == .paused } != nil)
    try ask(.resume, id, test)
    #expect(await test.wait(id) { $0 == .waiting(.slot) } != nil)
    try ask(.cancel, id, test)
    #expect(await test.wait(id) { $0 == .cancelled } != nil)
    try ask(.remove, id, test)
    for await _ in test.queue.updates(of: id) {}
    #expect(test.queue.downloads.isEmpty)
    await test.queue.close()
  }

  @Test("500 requests at once all arrive")
  func many() async throws {
    let test = try TestQueue(onDisk: true) { $0.totalLimit = 0 }
    let ids = try (0..<500).map { try test.add("/\($0)") }
    try DownloadQueue.ask(for: .pause, of: ids, queue: "test", in: test.cache)
    for id in ids { #expect(await test.wait(id) { $0 == .paused } != nil) }
    await test.queue.close()
  }

  @Test("without a process that has the queue open, the request fails and says so")
  func nobodyReads() async throws {
    let test = try TestQueue(onDisk: true)
    let id = try test.add()
    _ = try await test.end(id)
    await test.queue.close()
    #expect(!FileManager.default.fileExists(atPath: pipe(test).path))
    let error = #expect(throws: DownloadError.self) { try ask(.pause, id, test) }
    #expect(error?.code == .notOpen)
  }

  @Test("a file, a link or the pipe of a killed process at that place is neither written nor read")
  func others() async throws {
    let test = try TestQueue(onDisk: true)
    let id = try test.add()
    _ = try await test.end(id)
    await test.queue.close()
    let other = test.path("other")
    try Data("a".utf8).write(to: URL(fileURLWithPath: other))
    let steps: [() throws -> Void] = [
      { try Data().write(to: pipe(test)) },
      { try FileManager.default.createSymbolicLink(atPath: pipe(test).path, withDestinationPath: other) },
      { #expect(mkfifo(pipe(test).path, 0o600) == 0) },
    ]
    for (number, step) in steps.enumerated() {
      try step()
      #expect(throws: DownloadError.self) { try ask(.pause, id, test) }
      let queue = try test.reopen { $0.totalLimit = 0 }
      let new = try queue.add(try test.download("/\(number)"))
      try ask(.pause, new, test)
      #expect(await test.wait(new, in: queue) { $0 == .paused } != nil)
      await queue.close()
    }
    #expect(FileManager.default.contents(atPath: other) == Data("a".utf8))
  }

  @Test("lines that are no requests are ignored")
  func noRequests() async throws {
    let test = try TestQueue(onDisk: true) { $0.totalLimit = 0 }
    let id = try test.add()
    let writer = try FileHandle(forWritingTo: pipe(test))
    for line in ["\n", "pause\n", "pause x\n", "erase \(id)\n", "pause \(id) \(id)\n", "\0\n"] {
      try writer.write(contentsOf: Data(line.utf8))
    }
    try writer.write(contentsOf: Data([UInt8](repeating: 0xFF, count: 200_000)))
    try writer.write(contentsOf: Data("\npause \(id)\n".utf8))
    try writer.close()
    #expect(await test.wait(id) { $0 == .paused } != nil)
    #expect(test.queue.downloads.count == 1)
    await test.queue.close()
  }
}
