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

extension ImageCache {
  /// The settings that are fixed when an image cache is made.
  public struct Configuration: Sendable {
    /// Capacity for decoded images in bytes.
    public var memoryCapacity: Int
    /// The maximum number of downloads at once.
    public var downloadLimit: Int
    /// The maximum number of images that are decoded and processed at once. Together with `pixelLimit` it bounds
    /// the memory for this work.
    public var decodeLimit: Int
    /// The longest body in bytes.
    public var bodyLimit: Int
    /// The maximum number of pixels of an image.
    public var pixelLimit: Int
    /// The longest time to wait for the head of a response.
    public var timeout: Duration
    /// The decoders.
    public var formats: ImageFormats
    /// Encodes processed images for the HTTP cache, so that they are not made again after the process has ended;
    /// nil keeps them in memory only. See `docs/images.md`.
    public var variantEncoder: (any ImageEncoder)?

    /// Makes a configuration.
    public init(
      memoryCapacity: Int = 64 << 20, downloadLimit: Int = 6, decodeLimit: Int = 2, bodyLimit: Int = 64 << 20,
      pixelLimit: Int = 100_000_000, timeout: Duration = .seconds(30), formats: ImageFormats = .standard
    ) {
      self.memoryCapacity = memoryCapacity
      self.downloadLimit = downloadLimit
      self.decodeLimit = decodeLimit
      self.bodyLimit = bodyLimit
      self.pixelLimit = pixelLimit
      self.timeout = timeout
      self.formats = formats
      variantEncoder = nil
    }
  }
}

extension ImageCache {
  /// The maximum number of previews of one response.
  private static let previewLimit = 4

  /// The stored image first, then the origin's if that is different; in between, previews of a progressive JPEG as it
  /// arrives.
  ///
  /// `HTTPCache.responses(to:body:policy:options:via:)` says when a stored image comes first. There is no second
  /// image if the origin confirms the first one or fails. A preview is processed like the image.
  ///
  /// - Returns: the images; the sequence throws what `image(for:)` throws as long as it has given none. It ends, and
  ///   its download with it, when the task that reads it is cancelled.
  public func updates(for request: ImageRequest) -> AsyncThrowingStream<ImageUpdate, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task(priority: request.priority.taskPriority) {
        do {
          try await self.update(request) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func update(
    _ request: ImageRequest, _ give: @escaping @Sendable (ImageUpdate) -> Void
  ) async throws {
    let handle = WorkHandle(request.priority)
    var answers = cache.responses(
      to: request.request, policy: request.policy, options: options(for: request), via: upstream
    ).makeAsyncIterator()
    let mark = StoreMark(cache)
    let mayGiveStored = !needsOrigin(request.with(policy: .cacheElseNetwork))
    let first =
      mayGiveStored
      ? try await answers.next() : try await downloadPermits.with(handle) { try await answers.next() }
    guard let first else { return }
    try await finish(first, to: request, since: mark, handle: handle, give: give)
    guard case .hit(_, _, let allowance) = first.outcome, request.policy != .standard || allowance != nil
    else {
      return
    }
    // The stored image stays if what follows it fails.
    do {
      try await downloadPermits.with(handle) {
        guard let second = try await answers.next() else {
          // The store has a new time for the response: so has the image in memory.
          if answers.confirmation != nil { _ = try await make(request.with(policy: .cacheOnly), handle) }
          return
        }
        try await finish(second, to: request, since: mark, handle: handle, give: give)
      }
    } catch {
      try Task.checkCancellation()
    }
  }

  private func finish(
    _ response: CacheResponse, to request: ImageRequest, since mark: StoreMark, handle: WorkHandle,
    give: @escaping @Sendable (ImageUpdate) -> Void
  ) async throws {
    var scans = ProgressiveScans()
    var previews = 0
    let fetched = try await read(response, to: request, since: mark) { bytes in
      guard previews < Self.previewLimit, let whole = scans.preview(of: bytes) else { return }
      // An attempt that fails counts, too: it reads all bytes again.
      previews += 1
      guard let image = try? await self.decode(whole, for: request, handle: handle) else {
        return
      }
      give(ImageUpdate(image: image, isPreview: true, outcome: response.outcome))
    }
    give(
      ImageUpdate(
        image: try await image(of: fetched, request, handle), isPreview: false, outcome: response.outcome))
  }
}
