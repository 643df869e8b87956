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
    var requests: RequestPipe?
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
    shared = Mutex(
      Shared(
        state: QueueState(
          items, totalLimit: configuration.totalLimit, perHostLimit: configuration.perHostLimit)))
    let now = clock.now
    shared.withLock { shared in
      for item in items { scheduleRetry(of: item, now: now, &shared) }
    }
    listen()
    startDue()
  }

  /// The downloads of a list as they were last saved, without opening a queue; also while a queue has the list
  /// open. What has arrived is saved when an attempt begins and ends, not while it runs.
  ///
  /// - Parameters:
  ///   - name: as in `init`.
  ///   - cache: has the list in its directory.
  ///   - onDamage: called with a message if a part of the list cannot be read.
  /// - Returns: the downloads in the order in which they would start; none without a list.
  /// - Throws: `DownloadError`.
  public static func saved(
    _ name: String, in cache: HTTPCache, onDamage: (String) -> Void = { _ in }
  ) throws(DownloadError) -> [DownloadStatus] {
    guard let file = try file(name, of: cache) else { return [] }
    let contents = try file.read()
    if let damage = contents.damage { onDamage("\(file.path): \(damage)") }
    return QueueState(contents.items, totalLimit: 0, perHostLimit: 1).ordered.map(\.status)
  }

  private static func list(_ name: String, of cache: HTTPCache) throws(DownloadError) -> DownloadList? {
    guard let file = try file(name, of: cache) else { return nil }
    return try DownloadList(file, isDurable: cache.configuration.durability == .durable)
  }

  static func file(_ name: String, of cache: HTTPCache) throws(DownloadError) -> ListFile? {
    let isValid =
      (1...64).contains(name.utf8.count) && !name.hasPrefix(".")
      && name.utf8.allSatisfy {
        ["-", ".", "_"].contains(UnicodeScalar($0)) || (0x30...0x39).contains($0)
          || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
      }
    guard isValid else { throw DownloadError(.invalidName, "'\(name)'") }
    guard let directory = cache.configuration.directory else { return nil }
    do {
      return ListFile(
        name: name, directory: directory,
        cipher: try cache.configuration.encryption?.cipher(secret: cache.store.secret))
    } catch {
      throw DownloadError(.unavailable, "\(error)")
    }
  }
}
