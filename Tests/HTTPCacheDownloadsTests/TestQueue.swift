import Foundation
import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Testing

/// A queue over a cache, an origin with a file, a clock that stands still, and a folder.
final class TestQueue: Sendable {
  static let start = Timestamp(seconds: 1_700_000_000)
  let clock: ManualClock
  let origin: FileOrigin
  let upstream: ScriptedUpstream
  let cache: HTTPCache
  let queue: DownloadQueue
  let folder: ScratchFolder

  init(
    count: Int = 100_000, onDisk: Bool = false, encryption: CacheEncryption? = nil,
    _ change: (inout DownloadQueue.Configuration) -> Void = { _ in }
  ) throws {
    clock = ManualClock(now: Self.start)
    origin = FileOrigin(count: count)
    upstream = origin.makeUpstream()
    folder = try ScratchFolder()
    let settings = HTTPCache.Configuration(
      directory: onDisk ? folder.path("cache") : nil,
      memoryCapacity: onDisk ? 0 : 64 << 20, diskCapacity: onDisk ? 64 << 20 : nil,
      largestEntry: .share(1), minimumFreeDiskSpace: 0, encryption: encryption, clock: clock)
    cache = try HTTPCache.open(settings)
    queue = try DownloadQueue(
      name: "test", cache: cache, upstream: upstream, configuration: Self.configuration(change))
  }

  /// A download of `/file` whose connection has broken off after some of its bytes.
  static func brokenOff(
    after cut: Int = 200_000, of count: Int = 300_000, segments: Int = 1, cacheControl: String = "max-age=60",
    _ change: (inout DownloadQueue.Configuration) -> Void = { _ in }
  ) async throws -> (TestQueue, DownloadID) {
    let test = try TestQueue(count: count, onDisk: true, change)
    test.origin.change {
      $0.fields[.cacheControl] = cacheControl
      $0.cuts = [cut]
    }
    let id = try test.add(to: "file", segments: segments)
    await test.wait(id) { $0.isRetry }
    return (test, id)
  }

  static func configuration(
    _ change: (inout DownloadQueue.Configuration) -> Void = { _ in }
  ) -> DownloadQueue.Configuration {
    var configuration = DownloadQueue.Configuration()
    configuration.random = { 0 }
    configuration.freeSpace = { _ in 1 << 40 }
    change(&configuration)
    return configuration
  }

  /// Opens a queue over the cache, as a later process does.
  func reopen(
    name: String = "test", _ change: (inout DownloadQueue.Configuration) -> Void = { _ in }
  ) throws -> DownloadQueue {
    try DownloadQueue(
      name: name, cache: cache, upstream: upstream, configuration: Self.configuration(change))
  }

  /// The file of the list.
  var list: URL { folder.url("cache/downloads/test.list") }

  func path(_ name: String) -> String { folder.url(name).path }

  func contents(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path(name)).map { Array($0) }
  }

  /// The names of the parts that downloads leave beside their destinations.
  func partFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".httpcache-part") }
  }

  func download(_ path: String = "/file", to name: String? = nil, segments: Int = 1) throws -> Download {
    var download = try Download("https://example.com\(path)", to: name.map { self.path($0) })
    download.segments = segments
    return download
  }

  @discardableResult
  func add(_ path: String = "/file", to name: String? = nil, segments: Int = 1) throws -> DownloadID {
    try queue.add(try download(path, to: name, segments: segments))
  }

  /// Waits until a download has a state.
  @discardableResult
  func wait(
    _ id: DownloadID, in queue: DownloadQueue? = nil, until isReached: (DownloadState) -> Bool
  ) async -> DownloadStatus? {
    for await status in (queue ?? self.queue).updates(of: id) where isReached(status.state) { return status }
    return nil
  }

  /// Waits until a download waits for a retry, and moves the clock to that time.
  @discardableResult
  func retry(_ id: DownloadID, in queue: DownloadQueue? = nil) async throws -> Int64 {
    let status = await wait(id, in: queue) { $0.isRetry || $0.isEnded }
    guard case .waiting(.retry(let time, _)) = status?.state else {
      throw Unexpected(state: status?.state)
    }
    await clock.waitForSleepers()
    let wait = max(0, time - clock.now)
    clock.advance(by: wait)
    await self.wait(id, in: queue) { $0 != status?.state }
    return wait
  }

  struct Unexpected: Error { let state: DownloadState? }

  /// Waits until a download has ended, going through its retries.
  func end(_ id: DownloadID, in queue: DownloadQueue? = nil) async throws -> DownloadState {
    while true {
      let status = try #require(await wait(id, in: queue) { $0.isRetry || $0.isEnded })
      if status.state.isEnded { return status.state }
      try await retry(id, in: queue)
    }
  }

  /// Waits until a download has ended, and checks that its file is that of the origin.
  func expectFetched(
    _ id: DownloadID, as name: String = "file", in queue: DownloadQueue? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(try await end(id, in: queue) == .done(.fetched), sourceLocation: location)
    #expect(contents(name) == origin.content, sourceLocation: location)
  }
}

extension DownloadState {
  var failure: DownloadFailure.Kind? { if case .failed(let failure) = self { failure.kind } else { nil } }
  var isRetry: Bool { if case .waiting(.retry) = self { true } else { false } }
}
