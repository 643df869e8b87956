import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheDownloads

@Suite("A download that is added again", .timeLimit(.minutes(10)))
struct DownloadAddedAgainTests {
  #if Crypto
    private static let wrong = String(repeating: "0", count: 64)
    private static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test("a file at the destination without the expected digest is not current")
    func digestLater() async throws {
      let test = try TestQueue(onDisk: true)
      var download = try test.download("/file", to: "file")
      let id = try test.queue.add(download)
      #expect(try await test.end(id) == .done(.fetched))
      download.digests = [try #require(.sha256(Self.wrong))]
      try test.queue.add(download)
      #expect(try await test.end(id).failure == .wrongDigest)
    }

    /// A queue whose cache has a stale response, and a download of its URL that expects the digest of "abc".
    private func stale(_ content: String) async throws -> (TestQueue, Download) {
      let test = try TestQueue(onDisk: true)
      test.origin.change { $0.content = Array(content.utf8) }
      _ = try await test.end(try test.add("/file"))
      test.clock.advance(by: 3_600)
      var download = try test.download("/file", to: "file")
      download.digests = [try #require(.sha256(Self.abc))]
      return (test, download)
    }

    @Test("a stale stored response with the expected digest, and then the file, are right without the origin")
    func staleWithDigest() async throws {
      let (test, download) = try await stale("abc")
      let id = try test.queue.add(download)
      #expect(try await test.end(id) == .done(.cache))
      #expect(test.contents("file") == Array("abc".utf8))
      try test.queue.add(download)
      #expect(try await test.end(id) == .done(.destination))
      #expect(test.upstream.requests.count == 1)
    }

    @Test("a stale stored response with another digest than the expected one is validated")
    func staleWithoutDigest() async throws {
      let (test, download) = try await stale("abd")
      test.origin.change {
        $0.content = Array("abc".utf8)
        $0.fields[.eTag] = "\"b\""
      }
      #expect(try await test.end(try test.queue.add(download)) == .done(.fetched))
      #expect(test.contents("file") == Array("abc".utf8))
    }

    @Test("a digest that is added while the download runs is checked", arguments: ["file", nil] as [String?])
    func digestMeanwhile(name: String?) async throws {
      let test = try TestQueue(onDisk: true)
      let gate = Gate()
      test.origin.change { $0.gate = gate }
      var download = try test.download("/file", to: name)
      let id = try test.queue.add(download)
      await gate.waitForArrivals(1)
      download.digests = [try #require(.sha256(Self.wrong))]
      #expect(try test.queue.add(download) == id)
      gate.open()
      #expect(try await test.end(id).failure == .wrongDigest)
    }
  #endif

  @Test("a download that is paused while its file is placed knows the file as its own")
  func pausedWhilePlacing() async throws {
    let hook = Hook()
    let test = try TestQueue(onDisk: true) {
      $0.freeSpace = { _ in
        hook.call()
        return 1 << 40
      }
    }
    _ = try await test.end(try test.add("/file"))
    // The free space is asked for before a stored body is placed.
    hook.set { [queue = test.queue] in
      for status in queue.downloads where status.state.isRunning { queue.pause(status.id) }
    }
    let id = try test.add("/file", to: "file")
    #expect(try await test.end(id) == .done(.cache))
    hook.set(nil)
    try test.add("/file", to: "file")
    #expect(try await test.end(id) == .done(.destination))
  }

  @Test(
    "another URL to the destination of a download that has not ended is an error", arguments: [false, true])
  func otherURL(isPaused: Bool) async throws {
    let test = try TestQueue(onDisk: true) { $0.totalLimit = 0 }
    let id = try test.add("/file", to: "file")
    if isPaused { test.queue.pause(id) }
    let failure = #expect(throws: DownloadError.self) { try test.add("/other", to: "file") }
    #expect(failure?.code == .destinationInUse)
    #expect(failure?.message.contains("https://example.com/file") == true, "\(String(describing: failure))")
    // Each of two URLs without a destination, or with its own, is another download.
    for (path, name) in [("/file", "copy"), ("/other", "other"), ("/file", nil), ("/other", nil)] {
      #expect(try test.add(path, to: name) != id)
    }
    #expect(try test.add("/file", to: "file") == id)
    // In the list of a later process, too.
    await test.queue.close()
    let reopened = try test.reopen { $0.totalLimit = 0 }
    #expect(throws: DownloadError.self) { try reopened.add(test.download("/other", to: "file")) }
    #expect(reopened.downloads.count == 5)
    await reopened.close()
  }

  @Test(
    "a download that has ended gives its destination to another URL",
    arguments: ["done", "failed", "cancelled"])
  func otherURLAfterwards(end: String) async throws {
    let test = try TestQueue(count: 300_000, onDisk: true) { $0.tryLimit = 1 }
    if end == "failed" { test.origin.change { $0.cuts = [200_000] } }
    if end == "cancelled" { test.queue.setLimits(total: 0) }
    let first = try test.add("/file", to: "file")
    let updates = test.queue.updates(of: first)
    if end == "cancelled" { test.queue.cancel(first) }
    let last = try await test.end(first)
    #expect((last.failure != nil) == (end == "failed"), "\(last)")
    test.queue.setLimits(total: 0)
    var download = try test.download("/other", to: "file")
    download.replacesExisting = true
    let second = try test.queue.add(download)
    #expect(test.queue.downloads.map(\.id) == [second])
    #expect(try test.partFiles() == [])
    // A watcher that has read nothing finds how the first one ended, and then its end.
    var states: [DownloadState] = []
    for await status in updates { states.append(status.state) }
    #expect(states == [last])
    test.queue.setLimits(total: 4)
    try await test.expectFetched(second)
  }

  @Test(
    "an attempt that still ends keeps its destination, also of a removed download", arguments: [false, true])
  func oneAttempt(isRemoved: Bool) throws {
    let first = DownloadID(rawValue: 1)
    var state = QueueState([], totalLimit: 4, perHostLimit: 4)
    let item = DownloadItem(
      id: first, download: try Download("https://a.example/1", to: "/file"), position: 1)
    state.insert(item)
    #expect(state.takeStarting().map(\.id) == [first])
    if isRemoved { state.remove(first) } else { state.change(first) { $0.state = .cancelled } }
    let second = DownloadItem(
      id: DownloadID(rawValue: 2), download: try Download("https://a.example/2", to: "/file"), position: 2)
    state.insert(second)
    #expect(state.takeStarting().isEmpty)
    state.ended(first)
    #expect(state.takeStarting().map(\.id) == [second.id])
  }

  @Test("a watcher that is cancelled while its download changes ends")
  func cancelledWatchers() async throws {
    let test = try TestQueue { $0.totalLimit = 0 }
    let queue = test.queue
    let id = try test.add()
    // A signal that is given under the lock that the cancelled watcher's end takes would stop both for ever.
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for priority in 0..<5_000 { queue.setPriority(priority, of: id) } }
      for _ in 0..<500 {
        let begun = Gate()
        let watcher = Task { for await _ in queue.updates(of: id) { begun.open() } }
        try? await begun.pass()
        watcher.cancel()
        group.addTask { await watcher.value }
      }
    }
    #expect(queue.status(of: id)?.download.priority == 4_999)
  }
}

/// A call that a test changes.
private final class Hook: Sendable {
  private let stored = Mutex<(@Sendable () -> Void)?>(nil)

  func set(_ work: (@Sendable () -> Void)?) { stored.withLock { $0 = work } }

  func call() {
    let work = stored.withLock { $0 }
    work?()
  }
}
