import HTTPCacheSemantics
public import HTTPCaching

extension CachedURLSession {
  /// The stored body of a response as a file, without asking the origin. The file exists as long as the
  /// result is held, even if the response is removed.
  ///
  /// - Parameters:
  ///   - request: a GET.
  ///   - cachePolicy: how fresh the response must be; `.cacheElseNetwork` accepts any age, `.standard`
  ///     accepts a response that may be used without asking the origin.
  /// - Returns: nil if no stored response may be used.
  /// - Throws: `URLError` for a request that cannot be cached, `CacheError` if no file can be made.
  public func file(
    for request: URLRequest, cachePolicy: CachePolicy = .cacheElseNetwork
  ) async throws -> CachedFile? {
    do {
      try checkValid()
      let made = try cacheRequest(request, .none)
      if made.namesOtherHost { return nil }
      return try await cache.file(for: made, policy: cachePolicy, options: inspectingOptions)
    } catch {
      throw Self.foundationError(error, request.url)
    }
  }

  /// The URL of a file with the stored body of a response, without asking the origin. The file exists as long
  /// as the session. All calls for one stored response give one file; for many responses, hold `file(for:)` instead.
  ///
  /// - Parameters: as for `file(for:cachePolicy:)`.
  /// - Returns: nil if no stored response may be used.
  /// - Throws: as `file(for:cachePolicy:)`.
  public func fileURL(
    for request: URLRequest, cachePolicy: CachePolicy = .cacheElseNetwork
  ) async throws -> URL? {
    guard let file = try await file(for: request, cachePolicy: cachePolicy) else { return nil }
    keep(file)
    return file.url
  }
}

extension CachedFile {
  /// The URL of the file.
  public var url: URL { URL(fileURLWithPath: path) }
}
