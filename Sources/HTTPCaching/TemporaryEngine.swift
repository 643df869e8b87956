import HTTPCacheDisk
public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// Temporary stand-in.
  public static func open(_ configuration: Configuration) throws(CacheError) -> HTTPCache {
    HTTPCache(
      configuration: configuration,
      store: try DiskStore.open(
        directory: configuration.directory ?? "", capacity: 0, largestEntry: nil,
        durability: configuration.durability, verification: configuration.verification,
        clock: configuration.clock))
  }
  public func explain(
    _ request: HTTPRequest, policy: CachePolicy = .standard, options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> CacheExplanation {
    CacheExplanation.none
  }
  public func flush() async { await store.flush() }
}
