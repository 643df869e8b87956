import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheDownloads

@Suite("A download that is added again", .timeLimit(.minutes(10)))
struct DownloadAddedAgainTests {
  #if Crypto
    private static let wrong = String(repeating: "0", count: 64)

    @Test("a file at the destination without the expected digest is not current")
    func digestLater() async throws {
      let kitchen = try DownloadKitchen(onDisk: true)
      var download = try kitchen.download("/file", to: "file")
      let id = try kitchen.queue.add(download)
      #expect(try await kitchen.end(id) == .done(.fetched))
      download.digests = [try #require(.sha256(Self.wrong))]
      try kitchen.queue.add(download)
      #expect(try await kitchen.end(id).failure == .wrongDigest)
    }

    @Test("a digest that is added while the download runs is checked", arguments: ["file", nil] as [String?])
    func digestMeanwhile(name: String?) async throws {
      let kitchen = try DownloadKitchen(onDisk: true)
      let gate = Gate()
      kitchen.origin.change { $0.gate = gate }
      var download = try kitchen.download("/file", to: name)
      let id = try kitchen.queue.add(download)
      await gate.waitForArrivals(1)
      download.digests = [try #require(.sha256(Self.wrong))]
      #expect(try kitchen.queue.add(download) == id)
      gate.open()
      #expect(try await kitchen.end(id).failure == .wrongDigest)
    }
  #endif

  @Test("a download that is paused while its file is placed knows the file as its own")
  func pausedWhilePlacing() async throws {
    let hook = Hook()
    let kitchen = try DownloadKitchen(onDisk: true) {
      $0.freeSpace = { _ in
        hook.call()
        return 1 << 40
      }
    }
    _ = try await kitchen.end(try kitchen.add("/file"))
    // The free space is asked for before a stored body is placed.
    hook.set { [queue = kitchen.queue] in
      for status in queue.downloads where status.state.isRunning { queue.pause(status.id) }
    }
    let id = try kitchen.add("/file", to: "file")
    #expect(try await kitchen.end(id) == .done(.cache))
    hook.set(nil)
    try kitchen.add("/file", to: "file")
    #expect(try await kitchen.end(id) == .done(.destination))
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
