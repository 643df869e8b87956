public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  // MARK: Answers

  /// Answers a request: from the store if RFC 9111 and the policy allow it, else from the origin.
  ///
  /// Follows at most `options.redirectLimit` redirects, each through the cache. A redirect that keeps the content of the
  /// request is followed only if the content can be sent again: that of a QUERY, and what `options.contentAgain` makes.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path; `Authorization` and `Cookie` already added.
  ///   - body: the request's content; a length of 0 means none. A GET or HEAD with content goes to the origin,
  ///     and its response is not stored (RFC 9110 §9.3.1). The content of a QUERY is part of the key
  ///     (RFC 10008 §2.7): up to `CacheRules.queryContentLimit` bytes of it are read into memory.
  ///   - policy: how to use the cache.
  ///   - options: further settings for this request.
  ///   - upstream: the way to the origin.
  /// - Returns: the response. If the request forbids asking the origin and nothing stored may answer, its
  ///   status is 504 and its outcome `.unsatisfiable` (RFC 9111 §5.2.1.7).
  /// - Throws: `UpstreamError` if the origin had to be asked, failed, and nothing stored may answer;
  ///   `CacheError` with `invalidRequest` for a request without an absolute http or https URI;
  ///   `CancellationError` if the task was cancelled; what `body` throws while the content of a QUERY is read;
  ///   what `options.contentAgain` throws.
  @concurrent
  public func respond(
    to request: HTTPRequest, body: MessageBody? = nil, policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions(), via upstream: any Upstream
  ) async throws -> CacheResponse {
    try await engine.respond(to: request, body: body, policy: policy, options: options, via: upstream)
  }

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

  /// The stored response to a request, if there is one, and then its changes: another response stored in its
  /// place, fields confirmed by the origin, an invalidation, a removal. No request is sent.
  ///
  /// Changes count that go through this object, whichever code makes them. Those of other processes and evictions
  /// are noticed no earlier than the next change of an entry of the same origin. Changes between two calls of
  /// `next()` are one update: the last state. A response that may never be used without the origin (`no-cache`,
  /// RFC 9111 §5.2.2.4) is not given. The sequence ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - request: a GET with scheme, authority and path.
  ///   - options: partition and whether decoded bodies are accepted.
  /// - Throws: `CacheError` with `invalidRequest` for a request without an absolute http or https URI.
  public func watch(
    _ request: HTTPRequest, options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> EntryUpdates {
    guard let target = CacheKey.target(of: request), let origin = TargetURI.origin(of: target) else {
      throw CacheError(.invalidRequest, "the request has no absolute http or https URL")
    }
    return EntryUpdates(engine: engine, request: request, options: options, origin: origin)
  }

  /// The stored body of a response as a file, without asking the origin.
  ///
  /// The file is linked or cloned where the file system supports it, else copied: see `CachedFile`. All its
  /// bytes are checked. Conditions, ranges and cache directives of the request are ignored. Stored redirects
  /// are followed.
  ///
  /// - Parameters:
  ///   - request: a GET, with scheme, authority and path.
  ///   - policy: how fresh the response must be: `.cacheElseNetwork` (the default) accepts any age, `.standard`
  ///     accepts a response that may be used without asking the origin.
  ///   - options: partition, redirects, and whether decoded bodies are accepted.
  ///   - writesMemoryOnly: whether to write a file even if the response may be in memory only
  ///     (`StoragePolicy.allowedInMemoryOnly`), or if the cache is encrypted. The file is then on disk in the
  ///     clear as long as it is held; after a crash, until the directory is next opened. A cache without a
  ///     directory always writes its files into the temporary directory.
  /// - Returns: nil if no complete stored response may be used, or if `writesMemoryOnly` is false and the file
  ///   would bring to disk what may be in memory only or must be encrypted.
  /// - Throws: `CacheError` with `invalidRequest` for a request without an absolute URI; with `io`,
  ///   `noSpace` or `unavailable` if no file can be made.
  @concurrent
  public func file(
    for request: HTTPRequest, policy: CachePolicy = .cacheElseNetwork,
    options: RequestOptions = RequestOptions(), writesMemoryOnly: Bool = false
  ) async throws(CacheError) -> CachedFile? {
    try await engine.files.file(
      for: request, policy: policy, options: options, writesMemoryOnly: writesMemoryOnly, from: engine.answers
    )
  }

  // MARK: Answers from memory

  /// A fresh answer from memory, without suspending; nil if the caller has to call `respond`.
  ///
  /// A request whose `Content-Length` is not 0, or that has `Transfer-Encoding`, is not answered
  /// (RFC 9110 §9.3.1). For content without either field, as HTTP/2 allows, call `respond`.
  ///
  /// - Parameter request: with scheme, authority and path.
  public func peek(_ request: HTTPRequest) -> CacheResponse? {
    guard let place = try? engine.lookup.place(of: request, in: "") else { return nil }
    return engine.answers.peek(request, at: place, bodyForms: .asSent)
  }

  /// Like `peek(_:)`, with a partition, or for a caller that accepts decoded bodies.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - options: partition and whether decoded bodies are accepted.
  public func peek(_ request: HTTPRequest, options: RequestOptions) -> CacheResponse? {
    guard !options.isPrivate(under: configuration.rules),
      let place = try? engine.lookup.place(of: request, options: options)
    else { return nil }
    return engine.answers.peek(request, at: place, bodyForms: options.bodyForms)
  }

  /// The answer from memory to a request, without counting a hit; nil if the caller has to call `peek` or `respond`.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path. A request with content gets nil.
  ///   - options: partition and whether decoded bodies are accepted.
  ///   - longestBody: the maximum length of the answer's body in bytes.
  public func memoryHit(
    for request: HTTPRequest, options: RequestOptions, longestBody: Int
  ) -> MemoryHit? {
    engine.answers.memoryHit(for: request, options: options, longestBody: longestBody)
  }

  /// Whether requests that need the same response wait for its head: then a caller that no longer needs it lets its own
  /// request go on. A QUERY is not awaited.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - partition: as in `RequestOptions.partition`.
  public func isAwaited(_ request: HTTPRequest, partition: String = "") -> Bool {
    guard request.method == .get, let place = engine.lookup.storedPlace(of: request, in: partition) else {
      return false
    }
    return engine.coalescing.waiters(of: place.key) > 0
  }

  /// Counts an answer with a hit, if the hit still answers requests that are equal to its own.
  ///
  /// - Returns: false if the second of `MemoryHit.time` is over, or a response to the target was stored, freshened,
  ///   invalidated or removed since, in whichever process. Then the hit must not be sent.
  public func use(_ hit: MemoryHit) -> Bool { engine.answers.use(hit) }

  // MARK: Reasons

  /// Explains step by step what would happen to a request now, without sending it. If nothing usable is stored,
  /// the explanation includes why earlier responses were not stored.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - content: the content of a QUERY, which is part of its key (RFC 10008 §2.7).
  ///   - policy: how to use the cache.
  ///   - options: partition and whether decoded bodies are accepted.
  /// - Throws: `CacheError` for a request without an absolute URI, or if the store cannot be read.
  public func explain(
    _ request: HTTPRequest, content: BodyBytes = BodyBytes(), policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> CacheExplanation {
    try Explainer(engine: engine).explain(
      options.adding(to: request), content: content, policy: policy, options: options)
  }

  /// Why responses to this request were not stored, latest first. The store keeps a bounded number of these
  /// notes.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - content: the content of a QUERY, which is part of its key (RFC 10008 §2.7).
  ///   - options: the partition.
  /// - Throws: `CacheError` for a request without an absolute URI, or if the store cannot be read.
  public func refusals(
    of request: HTTPRequest, content: BodyBytes = BodyBytes(),
    options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> [RefusalNote] {
    let content =
      request.method == .query ? QueryContent(content, of: request, rules: configuration.rules) : nil
    let exchange = try engine.lookup.exchange(
      for: options.adding(to: request), content: content, policy: .standard, options: options)
    return try store.refusals(of: exchange.key)
  }
}
