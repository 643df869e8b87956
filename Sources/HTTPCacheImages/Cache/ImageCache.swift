public import HTTPCaching
import Synchronization

/// Images over an HTTP cache: downloaded once, decoded once, processed once, and validated as HTTP says.
///
/// A decoded image is kept in memory under its URL and processors. It answers only while its response is fresh and
/// still stored; otherwise the engine is asked, and the image is decoded again only if the bytes are others. A
/// picture that changes at its URL is therefore replaced.
///
/// ```swift
/// let images = ImageCache(cache: cache, upstream: upstream)
/// let photo = try ImageRequest("https://example.com/photo.jpg", processors: [.thumbnail(width: 256, height: 256)])
/// let image = try await images.image(for: photo)
/// ```
///
/// Downloading, decoding and processing run outside of the caller's thread and actor. Requests for equal images
/// share all of it, and requests for one URL share its download.
public final class ImageCache: Sendable {
  struct JobKey: Hashable, Sendable {
    let name: ImageName
    let policy: CachePolicy
  }

  /// The cache of the responses.
  public let cache: HTTPCache
  /// The configuration that the image cache was made with; the capacity may have changed since.
  public let configuration: Configuration
  let upstream: any Upstream
  let memory: Mutex<MemoryImages>
  /// Bytes of responses that are being fetched, by `ImageRequest.sourceID`.
  let fetches = SharedWork<JobKey, FetchedImage>()
  /// Images that are being made, by `ImageRequest.imageID`.
  let jobs = SharedWork<JobKey, DecodedImage>()
  let prefetches = Mutex<[ImageName: Task<Void, Never>]>([:])
  let downloadPermits: Permits
  let decodePermits: Permits

  /// Makes an image cache.
  ///
  /// - Parameters:
  ///   - cache: keeps the responses.
  ///   - upstream: the way to the origin.
  ///   - configuration: limits and codecs.
  public init(cache: HTTPCache, upstream: any Upstream, configuration: Configuration = Configuration()) {
    self.cache = cache
    self.upstream = upstream
    self.configuration = configuration
    memory = Mutex(MemoryImages(capacity: configuration.memoryCapacity))
    downloadPermits = Permits(configuration.downloadLimit)
    decodePermits = Permits(configuration.decodeLimit)
  }

  // MARK: Images

  /// The image of a request: from memory, from the cache, or from the origin.
  ///
  /// A caller leaves when its task is cancelled. The download is cancelled with its last caller, unless little of it
  /// is left (10 % or 64 KiB): then it goes on into the cache. What a cancelled download received is continued by
  /// the next request, if the response has a strong validator.
  ///
  /// - Throws: `ImageError`; what `HTTPCache.respond` throws; `CancellationError`.
  public func image(for request: ImageRequest) async throws -> DecodedImage {
    if let image = imageInMemory(for: request) { return image }
    return try await jobs.value(
      for: JobKey(name: request.imageID, policy: request.policy), priority: request.priority
    ) { try await self.make(request, $0) }
  }

  /// The image of a URL.
  ///
  /// - Throws: as `image(for:)` for a request; `ImageError.invalidURL`.
  public func image(for url: String, processors: [any ImageProcessor] = []) async throws -> DecodedImage {
    try await image(for: ImageRequest(url, processors: processors))
  }

  /// The image of a request if its response is stored, however old it is; never starts a download. nil if nothing is
  /// stored, or if the stored response must not be used without asking the origin.
  ///
  /// - Throws: `ImageError` for a stored response that is no image; `CancellationError`.
  public func cachedImage(for request: ImageRequest) async throws -> DecodedImage? {
    do {
      return try await image(for: request.with(policy: .cacheOnly))
    } catch ImageError.notStored {
      return nil
    }
  }

  /// The decoded image of a request if it is in memory and its response is fresh. Returns at once.
  public func imageInMemory(for request: ImageRequest) -> DecodedImage? {
    guard request.mayUseMemory else { return nil }
    let now = cache.configuration.clock.now
    let mark = StoreMark(cache)
    if let image = memory.withLock({ $0.hit(request.imageID, now: now, mark: mark) }) { return image }
    return confirmed(request, mark)
  }

  /// The decoded image after the store has changed: the response in the store's memory tells whether it is still
  /// the picture's.
  private func confirmed(_ request: ImageRequest, _ mark: StoreMark) -> DecodedImage? {
    guard let entry = memory.withLock({ $0.entry(request.imageID) }), let record = entry.record,
      entry.mark != mark,
      let answer = cache.peek(request.request, options: options(for: request)), answer.isOf(record),
      case .hit(let age, let lifetime, nil) = answer.outcome
    else { return nil }
    let until = cache.configuration.clock.now.adding(lifetime - age)
    memory.withLock { $0.insert(entry.confirmed(until: until, mark: mark), request.imageID) }
    return entry.image
  }

  // MARK: Callers

  /// Ends the waiting of all callers of an image, with `CancellationError`. The rules of `image(for:)` say what
  /// becomes of the download.
  public func cancel(_ request: ImageRequest) {
    jobs.cancel(JobKey(name: request.imageID, policy: request.policy))
  }

  /// Loads images with low priority, so that they are in memory when they are asked for. Errors are ignored.
  public func prefetch(_ requests: [ImageRequest]) {
    for request in requests.map({ $0.with(priority: .low) }) {
      prefetches.withLock { tasks in
        guard tasks[request.imageID] == nil else { return }
        tasks[request.imageID] = Task(priority: .utility) {
          _ = try? await self.image(for: request)
          self.prefetches.withLock { $0[request.imageID] = nil }
        }
      }
    }
  }

  /// Stops the loading of images that no other caller waits for.
  public func stopPrefetching(_ requests: [ImageRequest]) {
    for request in requests { prefetches.withLock { $0[request.imageID] }?.cancel() }
  }

  /// Stops the loading of all prefetched images that no other caller waits for.
  public func stopPrefetching() {
    for task in prefetches.withLock({ Array($0.values) }) { task.cancel() }
  }

  // MARK: Memory

  /// Bytes of the decoded images in memory.
  public var memoryUsage: Int { memory.withLock { $0.cost } }

  /// Removes decoded images, the oldest that were not used first, until at most `bytes` are in use: for a system that
  /// is low on memory. The responses stay in the HTTP cache.
  public func trimMemory(to bytes: Int) { memory.withLock { $0.trim(to: bytes) } }

  /// Changes the capacity for decoded images in bytes.
  public func setMemoryCapacity(_ bytes: Int) { memory.withLock { $0.setCapacity(bytes) } }
}
