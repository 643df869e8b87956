public import HTTPCaching
import Synchronization

/// A list of downloads beside a cache, which survives the process.
///
/// Each download is a request through the cache: its result is an entry of the cache and, if asked for, a file.
/// What broke off is continued with `Range` and `If-Range`, also by the next process that opens the queue by its
/// name. A queue works until `close()`, also if no reference to it is left.
///
/// ```swift
/// let queue = try DownloadQueue(name: "films", cache: cache, upstream: upstream)
/// let id = try queue.add(Download("https://example.com/film.mp4", to: "/srv/films/film.mp4"))
/// for await status in queue.updates(of: id) { print(status.state, status.fraction ?? 0) }
/// ```
public final class DownloadQueue: Sendable {
  struct Shared {
    var state: QueueState
    var tasks: [DownloadID: Task<Void, Never>] = [:]
    /// The sleeps until the next attempts.
    var retries: [DownloadID: Task<Void, Never>] = [:]
    var watchers = Watchers()
    var isClosed = false
    var listError: CacheError?
  }

  /// The name, which is that of the list in the cache's directory.
  public let name: String
  /// The cache.
  public let cache: HTTPCache
  /// Messages about damage in the list when the queue was opened, for people. Empty if there was none.
  public let openingNotes: [String]
  /// The configuration that the queue was opened with; limits may have changed since.
  public let configuration: Configuration
  let upstream: any Upstream
  let limiter: RateLimiter
  /// Nil for a cache without a directory: then the list ends with the process.
  let list: DownloadList?
  let shared: Mutex<Shared>

  var clock: any CacheClock { cache.configuration.clock }

  /// Opens a queue, and goes on with the downloads that were waiting or running.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 letters and digits of ASCII, `.`, `_` and `-`, not beginning with `.`.
  ///   - cache: keeps the bytes. `HTTPCache.Configuration.largestEntry` limits what it keeps: a longer file goes
  ///     straight to its destination, and begins again after a break.
  ///   - upstream: the way to the origin.
  ///   - configuration: limits and times.
  /// - Throws: `DownloadError`.
  public init(
    name: String, cache: HTTPCache, upstream: any Upstream,
    configuration: Configuration = Configuration()
  ) throws(DownloadError) {
    self.name = name
    self.cache = cache
    self.upstream = upstream
    self.configuration = configuration
    limiter = RateLimiter(rate: configuration.rateLimit, clock: cache.configuration.clock)
    list = try Self.list(name, of: cache)
    let (items, notes) = try list?.load() ?? ([], [])
    openingNotes = notes
    var state = QueueState(
      totalLimit: configuration.totalLimit, perHostLimit: configuration.perHostLimit)
    for item in items { state.insert(item) }
    state.unsaved = []
    shared = Mutex(Shared(state: state))
    let now = clock.now
    shared.withLock { shared in
      for item in items { scheduleRetry(of: item, now: now, &shared) }
    }
    startDue()
  }

  private static func list(_ name: String, of cache: HTTPCache) throws(DownloadError) -> DownloadList? {
    let isValid =
      (1...64).contains(name.utf8.count) && !name.hasPrefix(".")
      && name.utf8.allSatisfy {
        ["-", ".", "_"].contains(UnicodeScalar($0)) || (0x30...0x39).contains($0)
          || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
      }
    guard isValid else { throw DownloadError(.invalidName, "'\(name)'") }
    guard let directory = cache.configuration.directory else { return nil }
    do {
      return try DownloadList(
        name: name, directory: directory,
        cipher: try cache.configuration.encryption?.cipher(secret: cache.store.secret),
        isDurable: cache.configuration.durability == .durable)
    } catch let error as DownloadError {
      throw error
    } catch {
      throw DownloadError(.unavailable, "\(error)")
    }
  }

  // MARK: Snapshots

  /// The downloads, in the order in which they would start.
  public var downloads: [DownloadStatus] { shared.withLock { $0.state.ordered.map(\.status) } }

  /// Why the last change could not be written to the list on disk; nil if it was. The next change tries again.
  public var listError: CacheError? { shared.withLock { $0.listError } }

  /// Counts, bytes and rate of all downloads.
  public var summary: DownloadSummary { shared.withLock { $0.state.summary } }

  /// A snapshot of a download; nil if it is not in the list.
  public func status(of id: DownloadID) -> DownloadStatus? {
    shared.withLock { $0.state.items[id]?.status }
  }

  /// The snapshots of a download from now on, the current one first. A reader that is slow gets the latest one
  /// and not those before it. Ends when the download is removed or the queue is closed.
  public func updates(of id: DownloadID) -> AsyncStream<DownloadStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let watcher = shared.withLock { shared -> Int? in
        guard !shared.isClosed, let status = shared.state.items[id]?.status else { return nil }
        continuation.yield(status)
        return shared.watchers.add(id, continuation)
      }
      guard let watcher else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.shared.withLock { $0.watchers.remove(watcher, of: id) }
      }
    }
  }

  /// The snapshots of all downloads together from now on, the current one first. A reader that is slow gets the
  /// latest one and not those before it. Ends when the queue is closed.
  public func summaries() -> AsyncStream<DownloadSummary> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let watcher = shared.withLock { shared -> Int? in
        guard !shared.isClosed else { return nil }
        continuation.yield(shared.state.summary)
        return shared.watchers.add(continuation)
      }
      guard let watcher else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.shared.withLock { $0.watchers.remove(watcher, of: nil) }
      }
    }
  }

  /// Waits until a download is done, failed or cancelled.
  ///
  /// - Returns: its last snapshot; nil if it is not in the list, or was removed, or the queue was closed.
  public func finished(_ id: DownloadID) async -> DownloadStatus? {
    for await status in updates(of: id) where status.state.isEnded { return status }
    return nil
  }
}
