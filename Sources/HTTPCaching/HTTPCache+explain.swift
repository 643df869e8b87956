public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// What would happen to a request now, step by step, without doing it.
  ///
  /// - Throws: `CacheError` for a request without an absolute URI, or if the store cannot be read.
  public func explain(
    _ request: HTTPRequest, policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> CacheExplanation {
    let exchange = try exchange(for: request, hasBody: false, policy: policy, options)
    let variants = usable(try store.read(exchange.key), acceptsDecoded: options.acceptsDecoded)
    return CacheExplanation.reuse(
      request: request, variants: variants.map(\.record.response), policy: policy,
      rules: configuration.rules, now: configuration.clock.now, digest: digest)
  }
}
