import HTTPCacheSemantics
public import HTTPCaching
import HTTPTypes

/// Apple's `URLCache` over a store of this package, for code that calls a `URLCache` itself.
///
/// It keeps the responses that it is given, and finds them whatever their age, by method, scheme, host, port,
/// path and query, and by the request fields that `Vary` names. A `CachedURLSession` or a
/// `CachingURLProtocol` over the same `cache` may use these responses, and the other way round.
///
/// On Linux, setting it as the `urlCache` of a configuration has no effect, because Foundation never stores a
/// response. Write instead:
///
/// ```swift
/// let session = URLSession(configuration: .caching(with: urlCache.cache))
/// ```
///
/// Its methods have taken effect when they return. They block their thread while files are read or written.
public final class HTTPURLCache: URLCache, @unchecked Sendable {
  // @unchecked Sendable because all its properties are constant, and the store is thread-safe.

  /// The cache, for sessions that use it.
  public let cache: HTTPCache
  /// The account whose responses it stores, finds and removes. A `CachedURLSession` over the same `cache` with
  /// the same partition shares them.
  public let partition: String
  let recentResponses = RecentURLResponses()

  /// The key in `userInfo` of a stored response under which the bytes are that a `StoringHook` kept with it, as `Data`.
  public static let hookUserInfoKey = "HTTPCacheHookUserInfo"

  /// Makes a cache over an existing one.
  ///
  /// - Parameters:
  ///   - cache: the cache that keeps the responses.
  ///   - partition: the account whose responses are stored, found and removed; two accounts need two names.
  ///     Capacities and usage are those of the whole cache.
  public init(cache: HTTPCache, partition: String = "") {
    self.cache = cache
    self.partition = partition
    super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: Self.noPath)
  }

  /// Opens a cache. If the directory cannot be used, the cache is in memory.
  ///
  /// - Parameters:
  ///   - memoryCapacity: capacity of memory in bytes.
  ///   - diskCapacity: capacity of the disk in bytes; 0 keeps all responses in memory, as long as the cache
  ///     exists.
  ///   - directory: nil is this program's directory in the user's folder for caches.
  ///   - seeds: content that ships with the program, which answers while nothing newer is stored, such as a
  ///     `FolderSeed` of HTTPCacheArchives; the first that has a URL answers.
  public convenience init(
    memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil, seeds: [any SeedSource] = []
  ) {
    self.init(
      cache: HTTPURLCache.open(
        memory: memoryCapacity, disk: diskCapacity, path: directory?.path, seeds: seeds))
  }

  /// Opens a cache, as the initialiser with a directory does.
  public override convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
    self.init(cache: HTTPURLCache.open(memory: memoryCapacity, disk: diskCapacity, path: path))
  }

  // MARK: Responses

  /// The stored response to a request, whatever its age; nil for methods other than GET and HEAD, and for a
  /// request with content. `Range` is applied; conditions such as `If-None-Match` are ignored.
  public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
    stored(for: request)
  }

  /// Stores a response. It is not stored if:
  /// - its policy is `notAllowed`,
  /// - the request is not a GET, has content or is not HTTP,
  /// - it could not be found again (`Vary: *`), or is a 206 without its `Content-Range`,
  /// - an override of the cache's rules or its `willStore` hook forbids it. A hook that needs the calling
  ///   thread, such as a main-actor hook called on the main thread, cannot answer and counts as timed out.
  ///
  /// Parts of `userInfo` that are not property lists are dropped; all of it is dropped above 64 KiB.
  public override func storeCachedResponse(
    _ cachedResponse: CachedURLResponse, for request: URLRequest
  ) { store(cachedResponse, for: request) }

  /// Removes everything stored for the URL of a request, in this partition.
  public override func removeCachedResponse(for request: URLRequest) { remove(request) }

  /// Removes everything of its partition; without the name of a partition, everything of all partitions.
  public override func removeAllCachedResponses() {
    let mode = cache.configuration.rules.mode
    let selection: CacheSelection = partition.isEmpty ? .all : .partition(mode: mode, partition)
    wait(for: "remove") { cache throws(CacheError) in try await cache.remove(selection) }
  }

  /// Removes responses that were stored or confirmed at or after a time, in whole seconds: those of its
  /// partition, or without the name of a partition those of all.
  public override func removeCachedResponses(since date: Date) {
    let time = Timestamp(date)
    guard !partition.isEmpty else {
      return wait(for: "remove") { cache throws(CacheError) in
        try await cache.remove(.storedSince(time))
      }
    }
    wait(for: "remove") { [partition, mode = cache.configuration.rules.mode] cache throws(CacheError) in
      var cursor: EntryCursor?
      repeat {
        let page = try await cache.entries(.storedSince(time), after: cursor, limit: 256)
        for record in page.entries.map(\.record)
        where record.key.partition == partition && record.key.mode == mode {
          try await cache.remove(.variant(record.key, sequence: record.sequence))
        }
        cursor = page.next
      } while cursor != nil
    }
  }

  // MARK: Tasks

  /// Stores a response, as for the task's current request.
  public override func storeCachedResponse(
    _ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask
  ) {
    guard let request = dataTask.currentRequest else { return }
    store(cachedResponse, for: request)
  }

  /// The response that the task may use now, passed to the handler on another thread.
  ///
  /// Foundation on Linux calls this for each data task, would use responses that the task's policy forbids,
  /// and would remove responses that it cannot use. So it only gets fresh responses without `Vary`.
  public override func getCachedResponse(
    for dataTask: URLSessionDataTask,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    let request = dataTask.currentRequest
    DispatchQueue.global().async { [self] in
      #if canImport(FoundationNetworking)
        completionHandler(request.flatMap { usable(for: $0) })
      #else
        completionHandler(request.flatMap { stored(for: $0) })
      #endif
    }
  }

  /// Removes everything stored for the URL of the task's current request.
  public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
    if let request = dataTask.currentRequest { remove(request) }
  }

  // MARK: Capacities

  /// Capacity of memory in bytes. A lower value evicts at once.
  public override var memoryCapacity: Int {
    get { Int(clamping: cache.usage.memoryCapacity) }
    set { setCapacity(memory: Int64(newValue)) }
  }

  /// Capacity of the disk in bytes. A lower value evicts at once. A cache opened without a disk never has one.
  public override var diskCapacity: Int {
    get { Int(clamping: cache.usage.diskCapacity) }
    set { setCapacity(disk: Int64(newValue)) }
  }

  /// Bytes of heads and bodies in memory.
  public override var currentMemoryUsage: Int { Int(clamping: cache.usage.memoryBytes) }

  /// Bytes of index and bodies on disk.
  public override var currentDiskUsage: Int { Int(clamping: cache.usage.diskBytes) }
}

extension HTTPURLCache {
  private func remove(_ request: URLRequest) {
    guard let request = try? HTTPRequest(request) else { return }
    CallingThreadExecutor.wait { [cache, partition] in
      await cache.removeStored(for: request, partition: partition)
    }
  }

  private func setCapacity(memory: Int64? = nil, disk: Int64? = nil) {
    wait(for: "set capacity") { cache throws(CacheError) in
      try await cache.setCapacity(memory: memory.map { max(0, $0) }, disk: disk.map { max(0, $0) })
    }
  }

  /// Waits for a change of the cache.
  private func wait(
    for operation: String,
    _ work: @escaping @Sendable (HTTPCache) async throws(CacheError) -> Void
  ) {
    CallingThreadExecutor.wait { [cache] in
      do throws(CacheError) { try await work(cache) } catch {
        cache.configuration.observer?.observe(.storeFailed(operation: operation, error))
      }
    }
  }

  /// A path at which Foundation's own cache, which is not used, cannot make a directory.
  static var noPath: String? {
    #if canImport(FoundationNetworking)
      "/dev/null/none"
    #else
      nil
    #endif
  }

  /// Opens a cache, in memory if the directory cannot be used.
  static func open(memory: Int, disk: Int, path: String?, seeds: [any SeedSource] = []) -> HTTPCache {
    // Open both tiers if there is a disk, so that both capacities can be set later.
    var configuration = HTTPCache.Configuration(
      directory: disk > 0 ? path ?? defaultPath : nil, memoryCapacity: max(1, Int64(memory)),
      diskCapacity: max(0, Int64(disk)), seeds: seeds)
    let cache: HTTPCache
    do throws(CacheError) {
      cache = try HTTPCache.open(configuration)
    } catch {
      // A newer version made the directory: leave it alone.
      configuration.directory = nil
      cache = HTTPCache(
        configuration: configuration, store: MemoryStore(capacity: configuration.memoryCapacity))
    }
    if memory <= 0 { CallingThreadExecutor.wait { try? await cache.setCapacity(memory: 0) } }
    return cache
  }

  /// This program's directory in the user's folder for caches.
  private static var defaultPath: String? {
    let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
    let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    let name = String(program.map { "/\\:".contains($0) ? "_" : $0 })
    return caches?.appendingPathComponent(name).appendingPathComponent("HTTPURLCache").path
  }
}
