public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// What would happen to a request now, step by step, without doing it.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - content: the content of a QUERY, which is part of its key (RFC 10008 §2.7).
  ///   - policy: how to use the cache.
  ///   - options: partition and whether decoded bodies will do.
  /// - Throws: `CacheError` for a request without an absolute URI, or if the store cannot be read.
  public func explain(
    _ request: HTTPRequest, content: BodyBytes = BodyBytes(), policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> CacheExplanation {
    let content = request.method == .query ? self.content(of: request, content) : nil
    let exchange = try exchange(
      for: request, hasBody: false, policy: policy, options, content: content)
    let variants = usable(try stored(for: exchange.key), acceptsDecoded: options.acceptsDecoded)
    var explanation = CacheExplanation.reuse(
      request: request, variants: variants.map(\.record.response), policy: policy,
      rules: configuration.rules, now: configuration.clock.now, digest: digest,
      obstacle: content?.obstacle)
    if let other = variants.first(where: { $0.record.key != exchange.key })?.record.key {
      explanation.steps.insert(
        CacheExplanation.Step(
          "Does all of its query count?", "no: stored as \(other.target)",
          section: "draft-ietf-httpbis-no-vary-search §7"), at: 0)
    }
    return explanation
  }
}
