import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// From a request to its key.
extension Lookup {
  /// Makes the exchange for a request. One whose `Host` is not that of its URI bypasses the store.
  ///
  /// - Parameter content: the content of a QUERY.
  /// - Throws: `CacheError` with `invalidRequest` for a request without an absolute http or https URI.
  func exchange(
    for request: HTTPRequest, hasBody: Bool = false, content: QueryContent? = nil, policy: CachePolicy,
    options: RequestOptions
  ) throws(CacheError) -> Exchange {
    guard let target = CacheKey.target(of: request) else {
      throw CacheError(
        .invalidRequest,
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
    }
    var rules = configuration.rules.resolved(for: request, target: target)
    if options.separatesCredentials { rules.separatesCredentials = true }
    // The key is made before the mode changes: the entries belong to the cache, whose mode lists and wipes them.
    var key = CacheKey(request: request, target: target, rules: rules, partition: options.partition)
    if options.isPrivate(under: rules) { rules.mode = .private }
    if let digest = content?.digest { key = key.with(contentDigest: digest) }
    var (policy, hasBody) = (policy, hasBody || content?.hasBody == true)
    if request.namesOtherHost {
      // No stored response answers a request with content: `cacheOnly` then asks no origin either.
      if policy == .cacheOnly { hasBody = true } else { policy = .bypass }
    }
    var exchange = Exchange(
      PresentedRequest(
        request, key: key, target: target, policy: policy, rules: rules, hasBody: hasBody,
        bodyForms: options.bodyForms, digest: digest, content: content))
    exchange.validatesInBackground = options.validatesInBackground
    return exchange
  }

  /// Where responses to a request are stored; nil for a request that has no key, and for one whose `Host` is not that
  /// of its URI.
  func place(of request: HTTPRequest, in partition: String) -> Place? {
    guard let target = CacheKey.target(of: request), !request.namesOtherHost else { return nil }
    let rules =
      configuration.rules.isPlain
      ? configuration.rules : configuration.rules.resolved(for: request, target: target)
    let key = CacheKey(request: request, target: target, rules: rules, partition: partition)
    return Place(key: key, target: target, rules: rules)
  }

  /// The key for responses to a request.
  struct Place {
    let key: CacheKey
    /// The normalised target URI.
    let target: String
    /// The rules, resolved for the request.
    let rules: CacheRules
  }
}

/// A request that is answered from the store.
struct AskedRequest {
  let request: HTTPRequest
  let features: RequestFeatures
  let key: CacheKey
  let target: String
  let now: Timestamp
}

extension Exchange {
  func asked(at now: Timestamp) -> AskedRequest {
    AskedRequest(request: request, features: features, key: key, target: target, now: now)
  }
}
