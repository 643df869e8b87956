public import Foundation
public import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Apple's `URLCache` over a store of this package, for code that asks a `URLCache` itself.
///
/// It keeps what it is told to and finds it again whatever its age, by method, scheme, host, port, path
/// and query, and by the request fields that `Vary` names. What it stores, a `CachedURLSession` or a
/// `CachingURLProtocol` over the same `cache` may use, and the other way round.
///
/// Setting it as the `urlCache` of a configuration makes no session cache on Linux, where Foundation
/// never stores a response. Write instead:
///
/// ```swift
/// let session = URLSession(configuration: .caching(with: urlCache.cache))
/// ```
///
/// Its methods are done when they return, and block their thread while files are read or written.
public final class HTTPURLCache: URLCache, @unchecked Sendable {
  // @unchecked Sendable because all that it has is constant, and the store takes care of itself.

  /// The cache, for sessions that are to use it.
  public let cache: HTTPCache

  /// Makes a cache over one that exists.
  public init(cache: HTTPCache) {
    self.cache = cache
    super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: Self.noPath)
  }

  #if canImport(FoundationNetworking)
    /// Opens a cache.
    ///
    /// A directory that cannot be used leaves it in memory.
    ///
    /// - Parameters:
    ///   - memoryCapacity: bytes in memory.
    ///   - diskCapacity: bytes on disk; 0 keeps everything in memory, for as long as the cache is there.
    ///   - directory: nil is one of this program among the caches of the user.
    public init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
      cache = Self.open(memory: memoryCapacity, disk: diskCapacity, path: directory?.path)
      super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: Self.noPath)
    }
  #else
    /// Opens a cache.
    ///
    /// A directory that cannot be used leaves it in memory.
    ///
    /// - Parameters:
    ///   - memoryCapacity: bytes in memory.
    ///   - diskCapacity: bytes on disk; 0 keeps everything in memory, for as long as the cache is there.
    ///   - directory: nil is one of this program among the caches of the user.
    public override init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
      cache = Self.open(memory: memoryCapacity, disk: diskCapacity, path: directory?.path)
      super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: Self.noPath)
    }
  #endif

  /// Opens a cache, as the initialiser with a directory does.
  public override init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
    cache = Self.open(memory: memoryCapacity, disk: diskCapacity, path: path)
    super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: Self.noPath)
  }

  // MARK: Responses

  /// What is stored for a request, however old; nil for methods other than GET and HEAD, and
  /// for a request with content. For `Range` it
  /// is cut out of what is stored; conditions such as `If-None-Match` do not count.
  public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
    stored(for: request)
  }

  /// Stores a response, unless its policy is `notAllowed`, the request is no GET, has content or is no
  /// HTTP, or the response could not be found again (`Vary: *`) or not be told from a complete one (a 206 without
  /// its `Content-Range`). What an override of the cache's rules or its `willStore` forbids is not
  /// stored either; a hook that needs the calling thread, such as one of the main actor on the main
  /// thread, cannot answer and counts as late.
  ///
  /// Of `userInfo`, what is no property list is left out, and all of it beyond 64 KiB.
  public override func storeCachedResponse(
    _ cachedResponse: CachedURLResponse, for request: URLRequest
  ) { store(cachedResponse, for: request) }

  /// Removes everything stored for the URL of a request.
  public override func removeCachedResponse(for request: URLRequest) { remove(request) }

  /// Removes everything.
  public override func removeAllCachedResponses() { remove(.all) }

  /// Removes what was stored or confirmed at a time or later; times are whole seconds.
  public override func removeCachedResponses(since date: Date) {
    remove(.storedSince(Timestamp(date)))
  }

  // MARK: Tasks

  /// Stores a response, as for the task's current request.
  public override func storeCachedResponse(
    _ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask
  ) {
    guard let request = dataTask.currentRequest else { return }
    store(cachedResponse, for: request)
  }

  /// What the task may be answered with now, handed over on another thread.
  ///
  /// Foundation on Linux asks this for each data task, and would use what the task's policy forbids and
  /// remove what it does not know how to use. It gets fresh responses only, without `Vary`.
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

  /// Bytes allowed in memory. Setting less evicts at once.
  public override var memoryCapacity: Int {
    get { Int(clamping: cache.usage.memoryCapacity) }
    set { setCapacity(memory: Int64(newValue)) }
  }

  /// Bytes allowed on disk. Setting less evicts at once; a cache that was opened without a disk stays so.
  public override var diskCapacity: Int {
    get { Int(clamping: cache.usage.diskCapacity) }
    set { setCapacity(disk: Int64(newValue)) }
  }

  /// Bytes in memory, heads and bodies.
  public override var currentMemoryUsage: Int { Int(clamping: cache.usage.memoryBytes) }

  /// Bytes on disk, index and bodies.
  public override var currentDiskUsage: Int { Int(clamping: cache.usage.diskBytes) }
}
