import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import Testing

/// Downloads of a `CachedURLSession` from every isolation, with a closure that tells what belongs to the caller. The
/// transfer calls `progress` while the caller waits, so the closure is `@Sendable` and reaches the caller's state with a
/// task.
@Suite("Downloads with progress can be started from every isolation", .timeLimit(.minutes(5)))
struct IsolationTests {
  private let test: TestSession
  private let folder: ScratchFolder

  init() throws {
    test = try TestSession { _ in .text("abc") }
    folder = try ScratchFolder()
  }

  /// As the main function of a program.
  @MainActor private enum Program {
    static var received: Int64 = 0

    static func main(_ test: TestSession, _ file: URL) async throws -> Int64 {
      let tasks = Seen<Task<Void, Never>>()
      try await test.session.download(for: test.request("/"), to: file) { progress in
        tasks.add(Task { await note(progress) })
      }
      for task in tasks.all { await task.value }
      return received
    }

    static func note(_ progress: DownloadProgress) { received = max(received, progress.received) }
  }

  @MainActor private final class Model {
    private var received: Int64 = 0

    func load(_ test: TestSession, _ file: URL) async throws -> Int64 {
      let tasks = Seen<Task<Void, Never>>()
      try await test.session.download(for: test.request("/"), to: file) { progress in
        tasks.add(Task { await self.note(progress) })
      }
      for task in tasks.all { await task.value }
      return received
    }

    private func note(_ progress: DownloadProgress) { received = max(received, progress.received) }
  }

  private actor Loader {
    private var received: Int64 = 0

    func load(_ test: TestSession, _ file: URL) async throws -> Int64 {
      let tasks = Seen<Task<Void, Never>>()
      try await test.session.download(for: test.request("/"), to: file) { progress in
        tasks.add(Task { await self.note(progress) })
      }
      for task in tasks.all { await task.value }
      return received
    }

    private func note(_ progress: DownloadProgress) { received = max(received, progress.received) }
  }

  private nonisolated func load() async throws -> Int64? {
    let seen = Seen<Int64>()
    try await test.session.download(for: test.request("/"), to: folder.url("d")) { seen.add($0.received) }
    return seen.last
  }

  @Test("from a main function, a class of the main actor, an actor and a function without isolation")
  func isolations() async throws {
    #expect(try await Program.main(test, folder.url("a")) == 3)
    #expect(try await Model().load(test, folder.url("b")) == 3)
    #expect(try await Loader().load(test, folder.url("c")) == 3)
    #expect(try await load() == 3)
  }
}
