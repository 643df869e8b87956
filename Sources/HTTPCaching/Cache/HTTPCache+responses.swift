public import HTTPCacheSemantics
public import HTTPTypes

extension HTTPCache {
  /// Answers a request twice: with what is stored, at once, and then with what the origin sends, if
  /// that is something else. Nothing is asked before the first answer is pulled.
  ///
  /// | policy | the stored answer comes first | then the origin is asked |
  /// |---|---|---|
  /// | `.standard` | if nothing forbids its use without validation | unless the stored one is fresh |
  /// | `.revalidate`, `.reload`, `.reloadEverywhere` | the same | always |
  /// | `.networkElseCache` | the same, and not staler than `maxStale` | always |
  /// | `.cacheElseNetwork`, `.cacheOnly`, `.bypass` | – | one answer, as by `respond` |
  ///
  /// What forbids it is `no-cache` in response or request, an invalidation, and for a stale response
  /// `must-revalidate` and its kin (RFC 9111 §4, §4.2.4). Where nothing comes first, there is one
  /// answer, as by `respond`; so it is for other methods than GET, HEAD and QUERY, for a GET or HEAD
  /// with content and for a request with `only-if-cached`.
  ///
  /// There is no second answer if the origin confirms the first (304), sends it again (the same strong
  /// validator, or the same bytes where there are at most 64 KiB), or fails, which is told by
  /// `StoredThenNew.AsyncIterator.failure` and to the observer. A 5xx status is such a failure, and
  /// so is one of `.networkElseCache(onStatus:)` (RFC 9111 §4.3.3).
  ///
  /// - Parameters: as for `respond(to:body:policy:options:via:)`, whose errors the sequence throws as
  ///   long as it has given no answer.
  public func responses(
    to request: HTTPRequest, body: MessageBody? = nil, policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions(), via upstream: any Upstream
  ) -> StoredThenNew {
    StoredThenNew(
      cache: self, request: request, body: body, policy: policy, options: options,
      upstream: upstream)
  }
}
