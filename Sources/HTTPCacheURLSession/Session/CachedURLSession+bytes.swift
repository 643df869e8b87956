public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CachedURLSession {
  /// Loads a response and returns its body as it arrives.
  ///
  /// - Parameters:
  ///   - request: with its body in `httpBody` or `httpBodyStream`.
  ///   - cachePolicy: how to use the cache; nil uses the request's policy, or if it has none, the
  ///     configuration's.
  ///   - delegate: called instead of the session's delegate.
  /// - Returns: the body, and an `HTTPURLResponse` with its `cacheOutcome`.
  /// - Throws: `URLError`.
  public func bytes(
    for request: URLRequest, cachePolicy: CachePolicy? = nil,
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (CachedBytes, URLResponse) {
    try await bytes(for: request, options: LoadOptions(cachePolicy: cachePolicy), delegate: delegate)
  }

  /// Loads a response and returns its body as it arrives.
  ///
  /// - Parameters:
  ///   - request: with its body in `httpBody` or `httpBodyStream`.
  ///   - options: cache policy, hook, priority and timeout of this request.
  ///   - delegate: called instead of the session's delegate.
  /// - Throws: `URLError`.
  public func bytes(
    for request: URLRequest, options: LoadOptions, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (CachedBytes, URLResponse) {
    do {
      let meter = options.meter(cache.configuration.clock)
      let loaded = try await load(request, try RequestBody(request), options, delegate)
        .metered(meter, endsRequest: true)
      return (CachedBytes(body: loaded.body, url: request.url), loaded.response)
    } catch {
      throw Self.foundations(error, request.url)
    }
  }

  /// Loads a response and returns its body as it arrives.
  ///
  /// - Throws: `URLError`.
  public func bytes(
    from url: URL, cachePolicy: CachePolicy? = nil, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (CachedBytes, URLResponse) {
    try await bytes(for: URLRequest(url: url), cachePolicy: cachePolicy, delegate: delegate)
  }
}
