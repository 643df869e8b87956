import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// A fresh answer from memory, without suspending, or nil: then `respond` has to be asked.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - options: partition and whether decoded bodies will do.
  public func peek(
    _ request: HTTPRequest, options: RequestOptions = RequestOptions()
  ) -> CacheResponse? {
    guard request.method == .get || request.method == .head,
      let key = CacheKey(
        request: request, mode: configuration.rules.mode, partition: options.partition),
      case .found(let stored) = store.peek(key), Reuse.methodMiss(request) == nil
    else { return nil }
    let variants = usable(stored, acceptsDecoded: options.acceptsDecoded)
    var exchange = Exchange(
      request: request, key: key, policy: .standard, rules: configuration.rules, hasBody: false,
      acceptsDecoded: options.acceptsDecoded, digest: digest)
    let now = configuration.clock.now
    guard
      case .answer(let found, validateInBackground: false) = exchange.found(
        variants.map(\.record.response), now: now)
    else { return nil }
    return answer(found, variants[found.index], exchange, now: now)
  }
}
