public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CachedURLSession {
  /// Loads a response with its whole body, from the cache or from the origin.
  ///
  /// - Parameters:
  ///   - request: with its body in `httpBody` or `httpBodyStream`. A stream cannot be sent again after a
  ///     redirect.
  ///   - cachePolicy: how to use the cache; nil uses the request's policy, or if it has none, the
  ///     configuration's.
  ///   - delegate: called instead of the session's delegate.
  /// - Returns: the body, and an `HTTPURLResponse` with its `cacheOutcome`.
  /// - Throws: `URLError`.
  public func data(
    for request: URLRequest, cachePolicy: CachePolicy? = nil,
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    let content = try RequestBody(request)
    return try await data(for: request, content, LoadOptions(cachePolicy: cachePolicy), delegate)
  }

  /// Loads a response with its whole body, from the cache or from the origin.
  ///
  /// - Parameters:
  ///   - request: with its body in `httpBody` or `httpBodyStream`.
  ///   - options: cache policy, hook, priority and timeout of this request.
  ///   - delegate: called instead of the session's delegate.
  /// - Throws: `URLError`.
  public func data(
    for request: URLRequest, options: LoadOptions, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(for: request, try RequestBody(request), options, delegate)
  }

  /// Loads a response with its whole body, from the cache or from the origin.
  ///
  /// - Throws: `URLError`.
  public func data(
    from url: URL, cachePolicy: CachePolicy? = nil, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), cachePolicy: cachePolicy, delegate: delegate)
  }

  /// Sends data, and loads the response with its whole body. Invalidates what the request changes (RFC 9111
  /// §4.4).
  ///
  /// - Parameters:
  ///   - request: the target and the fields.
  ///   - bodyData: the content; the request's own content is not sent.
  ///   - delegate: called instead of the session's delegate.
  /// - Throws: `URLError`.
  public func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await upload(for: request, from: bodyData, options: LoadOptions(), delegate: delegate)
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
    for request: URLRequest, from bodyData: Data, options: LoadOptions,
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(for: request, .data(bodyData), options, delegate)
  }

  /// Sends a file, and loads the response with its whole body. Invalidates what the request changes (RFC 9111
  /// §4.4).
  ///
  /// - Parameters:
  ///   - request: the target and the fields.
  ///   - fileURL: the file with the content, which is never in memory as a whole.
  ///   - delegate: called instead of the session's delegate.
  /// - Throws: `URLError`.
  public func upload(
    for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await upload(for: request, fromFile: fileURL, options: LoadOptions(), delegate: delegate)
  }

  /// Sends a file, and loads the response with its whole body. Invalidates what the request changes (RFC 9111
  /// §4.4).
  ///
  /// - Parameters:
  ///   - request: the target and the fields.
  ///   - fileURL: the file with the content, which is never in memory as a whole.
  ///   - options: the settings of this request.
  ///   - delegate: called instead of the session's delegate.
  /// - Throws: `URLError`.
  public func upload(
    for request: URLRequest, fromFile fileURL: URL, options: LoadOptions,
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(for: request, .file(fileURL), options, delegate)
  }

  func data(
    for request: URLRequest, _ content: RequestBody, _ options: LoadOptions,
    _ delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await reading(request, content, options, delegate) { loaded in
      (try await loaded.data(), loaded.response)
    }
  }

  /// Loads and reads; if the stored body is damaged, loads again from the origin.
  func reading<Result>(
    _ request: URLRequest, _ content: RequestBody, _ options: LoadOptions,
    _ delegate: (any URLSessionTaskDelegate)?, _ read: (LoadedResponse) async throws -> Result
  ) async throws -> Result {
    let meter = options.meter(cache.configuration.clock)
    defer { meter?.finish() }
    do {
      let loaded = try await load(request, content, options, delegate).metered(meter, endsRequest: false)
      do {
        return try await read(loaded)
      } catch is CacheError where loaded.isFromStore && content.isRepeatable {
        var again = options
        again.cachePolicy = try policy(afterDamage: options.cachePolicy, request)
        return try await read(
          try await load(request, content, again, delegate).metered(meter, endsRequest: false))
      }
    } catch {
      throw Self.foundations(error, request.url)
    }
  }
}
