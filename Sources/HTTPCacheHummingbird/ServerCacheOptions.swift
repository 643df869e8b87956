#if Hummingbird
  public import Hummingbird

  /// What a `CacheMiddleware` or a `CachingResponder` is made with besides its cache.
  public struct ServerCacheOptions<Context: RequestContext>: Sendable {
    /// The partition of a request; nil passes the cache by. Where such a request is not safe, what it
    /// changes is invalidated all the same, in all partitions (RFC 9111 §4.4).
    public typealias Partition = @Sendable (Request, Context) async throws -> String?

    /// Where requests are addressed to.
    public var origin: RequestOrigin
    /// Keeps users apart (RFC 9111 §7.2): the partition that a request is answered from.
    public var partition: Partition

    /// Makes options.
    ///
    /// - Parameters:
    ///   - origin: where requests are addressed to.
    ///   - partition: keeps users apart; one for everybody where it is not given.
    public init(
      origin: RequestOrigin = .host(), partition: @escaping Partition = { _, _ in "" }
    ) {
      self.origin = origin
      self.partition = partition
    }
  }
#endif
