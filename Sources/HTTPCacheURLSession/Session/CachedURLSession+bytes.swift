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
  ///   - cachePolicy: how to use the cache; nil uses the policy of `options`, else the request's, else the
  ///     configuration's.
  ///   - options: the settings of this request.
  ///   - delegate: called instead of the session's delegate.
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
