public import HTTPCacheSemantics
public import HTTPTypes

extension HTTPCache {
  /// Answers a request twice: at once with the stored response, then with the origin's response if that is
  /// different. No request is sent before the first answer is pulled.
  ///
  /// | policy | the stored answer comes first | then the origin is asked |
  /// |---|---|---|
  /// | `.standard` | if its use without validation is not forbidden | unless the stored response is fresh |
  /// | `.revalidate`, `.reload`, `.reloadEverywhere` | as above | always |
  /// | `.networkElseCache` | as above, and not staler than `maxStale` | always |
  /// | `.cacheElseNetwork`, `.cacheOnly`, `.bypass` | – | one answer, as by `respond` |
  ///
  /// Use without validation is forbidden by `no-cache` in the response or the request, by an invalidation,
  /// and for a stale response by `must-revalidate` and similar directives (RFC 9111 §4, §4.2.4). There is one
  /// answer, as by `respond`, if no stored answer comes first, for methods other than GET, HEAD and QUERY,
  /// for a GET or HEAD with content, and for a request with `only-if-cached`.
  ///
  /// There is no second answer if the origin confirms the first one (304), sends it again (the same strong
  /// validator, or the same bytes for bodies up to 64 KiB), or fails. A failure is reported by
  /// `StoredThenNew.AsyncIterator.failure` and to the observer. A 5xx status is a failure, and so is a status
  /// of `.networkElseCache(onStatus:)` (RFC 9111 §4.3.3).
  ///
  /// - Parameters: as for `respond(to:body:policy:options:via:)`. The sequence throws the errors of that
  ///   function as long as it has given no answer.
  public func responses(
    to request: HTTPRequest, body: MessageBody? = nil, policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions(), via upstream: any Upstream
  ) -> StoredThenNew {
    StoredThenNew(
      cache: self, request: request, body: body, policy: policy, options: options,
      upstream: upstream)
  }
}
