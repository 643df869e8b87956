#if Hummingbird
  public import Hummingbird

  /// The settings of a `CacheMiddleware` or a `CachingResponder` besides its cache.
  public struct ServerCacheOptions<Context: RequestContext>: Sendable {
    /// The partition of a request; nil bypasses the cache. An unsafe request still invalidates what it
    /// changes, in all partitions (RFC 9111 §4.4).
    public typealias Partition = @Sendable (Request, Context) async throws -> String?

    /// How the origin of a request is found.
    public var origin: RequestOrigin
    /// Separates users (RFC 9111 §7.2): the partition that answers a request.
    public var partition: Partition

    /// Makes options.
    ///
    /// - Parameters:
    ///   - origin: how the origin of a request is found.
    ///   - partition: separates users; by default all users share one partition.
    public init(
      origin: RequestOrigin = .host(), partition: @escaping Partition = { _, _ in "" }
    ) {
      self.origin = origin
      self.partition = partition
    }
  }
#endif
