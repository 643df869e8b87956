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
  struct State {
    var downloads: QueueState
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
  private let state: Mutex<State>

  var clock: any CacheClock { cache.configuration.clock }

  /// Opens a queue, and goes on with the downloads that were waiting or running, unless
  /// `Configuration.startsSaved` is false.
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
    let (saved, notes) = try list?.load() ?? ([], [])
    let items = configuration.startsSaved ? saved : saved.map(\.held)
    openingNotes = notes
    state = Mutex(
      State(
        downloads: QueueState(
          items, totalLimit: configuration.totalLimit, perHostLimit: configuration.perHostLimit)))
    let now = clock.now
    withLock { state in
      for item in items {
        scheduleRetry(of: item, now: now, &state)
        // An attempt of an earlier process must not pass for one of this process in `saved(_:in:onDamage:)`.
        if item.isHeld, item.firstTry != nil { state.downloads.change(item.id) { $0.firstTry = nil } }
      }
    }
    listen()
    startDue()
  }

  deinit { withLock { $0.watchers.endAll() } }

  /// Reads or changes the state under the lock, and gives the signals that are due afterwards: a task that is woken may be
  /// one that is being cancelled, which waits for the lock (docs/concurrency.md).
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, giveSignals) = state.withLock { state in (body(&state), state.watchers.takeDue()) }
    giveSignals()
    return result
  }

  /// The downloads of a list as they were last saved, without opening a queue; also while a queue has the list
  /// open. What has arrived is saved when an attempt begins and ends, not while it runs. A download whose attempt has
  /// begun is `receiving`, whatever the attempt does, if a process has the queue open.
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
    let isOpen = RequestPipe.send([], to: file)
    return QueueState(contents.items, totalLimit: 0, perHostLimit: 1).ordered.map { item in
      var item = item
      if isOpen, item.state == .waiting(.slot), item.firstTry != nil { item.state = .receiving }
      return item.status
    }
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

extension DownloadQueue {
  /// The settings that are fixed when a queue is opened.
  public struct Configuration: Sendable {
    /// Transfers at a time in total; 0 starts none. `setLimits(total:perHost:)` changes it.
    public var totalLimit: Int
    /// Transfers at a time from one host and port, at least 1.
    public var perHostLimit: Int
    /// Whether downloads that wait in the list start when the queue is opened. If not, each of them is held
    /// (`DownloadSummary.held`) until it is added again or resumed.
    public var startsSaved: Bool
    /// Bytes per second of all transfers together; nil for no limit. `setRateLimit(_:)` changes it.
    public var rateLimit: Int64?
    /// Attempts in a row that bring no new bytes, after which a download fails.
    public var tryLimit: Int
    /// The longest time in seconds from the first attempt to the last; `resume` starts it anew.
    public var timeLimit: Int64
    /// How often a download may begin again at its first byte before it fails with `changed`.
    public var restartLimit: Int
    /// The first wait between two attempts in seconds. Each further one is twice as long, up to `longestWait`;
    /// a random half of it is left out, so that downloads do not return at one moment.
    public var firstWait: Int64
    /// The longest wait between two attempts in seconds.
    public var longestWait: Int64
    /// The longest wait in seconds that a `Retry-After` (RFC 9110 §10.2.3) may ask for; a longer one counts as
    /// this.
    public var longestRetryAfter: Int64
    /// The longest time without the head of a response before an attempt ends.
    public var headLimit: Duration
    /// The longest time without a byte of a body before an attempt ends.
    public var stallLimit: Duration
    /// Bytes that stay free on the file systems of the destination and of the cache.
    public var minimumFreeSpace: Int64
    /// The maximum number of downloads in the list.
    public var countLimit: Int
    /// Changes the request of each attempt, for example to add `Authorization`, which is not kept in the list.
    public var prepare: (@Sendable (HTTPRequest) async throws -> HTTPRequest)?
    /// Adds fields to each request of a download, also to those to mirrors and after redirects, which have lost
    /// `Authorization` and `Cookie` if they lead to another origin. The fields are for that one request, and are not kept
    /// in the list.
    public var addFields: (@Sendable (inout HTTPRequest, Download) -> Void)?
    /// A value that a door passes to its upstream.
    public var context: (any Sendable)?
    /// Returns a number from 0 up to 1, for the random part of waits.
    public var random: @Sendable () -> Double
    /// Returns the free bytes of the file system that has a folder; nil if unknown.
    public var freeSpace: @Sendable (_ folder: String) -> Int64?

    /// Makes a configuration: 4 transfers at a time, 2 of them per host, 8 tries, a day.
    public init() {
      totalLimit = 4
      perHostLimit = 2
      startsSaved = true
      tryLimit = 8
      timeLimit = 86_400
      restartLimit = 3
      firstWait = 1
      longestWait = 300
      longestRetryAfter = 3_600
      headLimit = .seconds(60)
      stallLimit = .seconds(600)
      minimumFreeSpace = 64 << 20
      countLimit = 100_000
      random = { Double.random(in: 0..<1) }
      freeSpace = { Volume.freeBytes(of: $0) }
    }
  }
}

extension DownloadQueue {
  /// A change of a download that another process can ask for.
  public enum Change: String, Sendable, CaseIterable {
    /// As `pause(_:)`.
    case pause
    /// As `resume(_:)`.
    case resume
    /// As `cancel(_:)`.
    case cancel
    /// As `remove(_:)`.
    case remove
  }

  /// Asks the process that has a queue open to change downloads. Returns when the request is handed over; the
  /// queue then changes the downloads that it still has.
  ///
  /// - Parameters:
  ///   - change: the change.
  ///   - ids: the downloads.
  ///   - name: the name of the queue.
  ///   - cache: has the list in its directory.
  /// - Throws: `DownloadError.Code.notOpen` if no process has the queue open; `DownloadError.Code.invalidName`,
  ///   `DownloadError.Code.unavailable`.
  public static func ask(
    for change: Change, of ids: [DownloadID], queue name: String, in cache: HTTPCache
  ) throws(DownloadError) {
    guard let file = try Self.file(name, of: cache), RequestPipe.send(ids.map { (change, $0) }, to: file)
    else {
      throw DownloadError(.notOpen, "no process reads requests to the queue \(name)")
    }
  }

  /// Makes a change, as the method of its name does.
  public func apply(_ change: Change, to id: DownloadID) {
    switch change {
    case .pause: pause(id)
    case .resume: resume(id)
    case .cancel: cancel(id)
    case .remove: remove(id)
    }
  }

  /// Begins to read the requests of other processes.
  func listen() {
    guard let file = list?.file else { return }
    let pipe = RequestPipe(file) { [weak self] request in self?.apply(request.change, to: request.id) }
    withLock { $0.requests = pipe }
  }
}
