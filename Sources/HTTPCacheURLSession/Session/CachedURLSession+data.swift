public import HTTPCaching
import HTTPTypes

extension CachedURLSession {
  /// Loads a response with its whole body, from the cache or from the origin.
  ///
  /// - Parameters:
  ///   - request: with its body in `httpBody` or `httpBodyStream`. A stream cannot be sent again after a
  ///     redirect.
  ///   - cachePolicy: how to use the cache; nil uses the policy of `options`, else the request's, else the
  ///     configuration's.
  ///   - options: the settings of this request.
  ///   - delegate: called instead of the session's delegate.
  /// - Returns: the body, and an `HTTPURLResponse` with its `cacheOutcome`.
  /// - Throws: `URLError`.
  public func data(
    for request: URLRequest, cachePolicy: CachePolicy? = nil, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(
      for: request, sending: try RequestBody(request), options: options.using(cachePolicy), delegate: delegate
    )
  }

  /// Loads a response with its whole body, from the cache or from the origin.
  ///
  /// - Parameters: as for `data(for:cachePolicy:options:delegate:)`.
  /// - Throws: `URLError`.
  public func data(
    from url: URL, cachePolicy: CachePolicy? = nil, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(
      for: URLRequest(url: url), cachePolicy: cachePolicy, options: options, delegate: delegate)
  }

  /// Sends data, and loads the response with its whole body. Invalidates what the request changes (RFC 9111
  /// §4.4).
  ///
  /// - Parameters:
  ///   - request: the target and the fields.
  ///   - bodyData: the content; the request's own content is not sent.
  ///   - options: the settings of this request.
  ///   - delegate: called instead of the session's delegate.
  /// - Throws: `URLError`.
  public func upload(
    for request: URLRequest, from bodyData: Data, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(for: request, sending: .data(bodyData), options: options, delegate: delegate)
  }

  /// Sends a file, which is never in memory as a whole, and loads the response with its whole body. Invalidates what
  /// the request changes (RFC 9111 §4.4).
  ///
  /// - Parameters: as for `upload(for:from:options:delegate:)`.
  /// - Throws: `URLError`.
  public func upload(
    for request: URLRequest, fromFile fileURL: URL, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(for: request, sending: .file(fileURL), options: options, delegate: delegate)
  }

  func data(
    for request: URLRequest, sending content: RequestBody, options: LoadOptions,
    delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    // A fresh response in memory needs nothing of what follows, unless it is to be measured or a delegate asked.
    if options.onMetrics == nil, options.cachePolicy ?? .standard == .standard, content.isEmpty,
      delegate == nil, self.delegate == nil, let hit = answerFromMemory(request)
    {
      return (Data(hit.body), hit.response)
    }
    return try await reading(request, content: content, options: options, delegate: delegate) { loaded in
      (try await loaded.data(), loaded.response)
    }
  }

  /// Loads and reads; if the stored body is damaged, loads again from the origin.
  ///
  /// - Throws: `URLError.resourceUnavailable` if the stored body is damaged and the origin must not be asked.
  func reading<Result>(
    _ request: URLRequest, content: RequestBody, options: LoadOptions,
    delegate: (any URLSessionTaskDelegate)? = nil, read: (LoadedResponse) async throws -> Result
  ) async throws -> Result {
    let meter = options.meter(cache.configuration.clock)
    defer { meter?.finish() }
    do {
      let loaded = try await load(request, content: content, options: options, delegate: delegate)
        .metered(meter, endsRequest: false)
      do {
        return try await read(loaded)
      } catch is CacheError where loaded.isFromStore && content.isRepeatable {
        guard options.cachePolicy ?? policy(of: request) != .cacheOnly else {
          throw URLError.make(
            .resourceUnavailable, "the stored response is damaged, and the origin must not be asked",
            url: request.url)
        }
        return try await read(
          try await load(request, content: content, options: options.using(.reload), delegate: delegate)
            .metered(meter, endsRequest: false))
      }
    } catch {
      throw Self.foundationError(error, request.url)
    }
  }

  /// A whole answer from memory that needs no decision of a delegate, without suspending; nil if `load` has to be
  /// called.
  ///
  /// - Parameter mayUse: whether the caller accepts the stored head; by default a 2xx, because `load` follows
  ///   redirects and answers challenges.
  func answerFromMemory(
    _ request: URLRequest, where mayUse: (HTTPResponse) -> Bool = { $0.status.kind == .successful }
  ) -> (response: CachedHTTPURLResponse, body: BodyBytes)? {
    guard request.httpBody == nil, request.httpBodyStream == nil, policy(of: request) == .standard,
      (try? checkValid()) != nil, let url = request.url,
      let asked = try? cacheRequest(request, .none),
      let answer = cache.peek(asked, options: inspectingOptions, where: mayUse),
      let bytes = answer.body.bytesInMemory,
      let response = recentResponses.response(for: answer, url: url)
    else { return nil }
    return (response, bytes)
  }

  /// Loads a response and returns its body as it arrives.
  ///
  /// - Parameters: as for `data(for:cachePolicy:options:delegate:)`.
  /// - Returns: the body, and an `HTTPURLResponse` with its `cacheOutcome`.
  /// - Throws: `URLError`.
  public func bytes(
    for request: URLRequest, cachePolicy: CachePolicy? = nil, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (CachedBytes, URLResponse) {
    do {
      let meter = options.meter(cache.configuration.clock)
      let loaded = try await load(
        request, content: try RequestBody(request), options: options.using(cachePolicy), delegate: delegate
      )
      .metered(meter, endsRequest: true)
      return (CachedBytes(body: loaded.body, url: request.url), loaded.response)
    } catch {
      throw Self.foundationError(error, request.url)
    }
  }

  /// Loads a response and returns its body as it arrives.
  ///
  /// - Parameters: as for `bytes(for:cachePolicy:options:delegate:)`.
  /// - Throws: `URLError`.
  public func bytes(
    from url: URL, cachePolicy: CachePolicy? = nil, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (CachedBytes, URLResponse) {
    try await bytes(
      for: URLRequest(url: url), cachePolicy: cachePolicy, options: options, delegate: delegate)
  }
}
