import HTTPCacheDownloads
public import HTTPCaching

extension CachedURLSession {
  /// Loads a response into a file, which replaces the file at `destination` in one step when it is complete.
  /// After an error `destination` is unchanged.
  ///
  /// The body is never in memory as a whole. A stored body is cloned where the file system supports it. A
  /// body that broke off is continued with a range by the next request, of this or a later process, if the response has
  /// a length and a strong validator: from the cache if it has about as many bytes, else from the folder
  /// `NAME.httpcache-part` beside the destination, also where a redirect leads to another URL with the same strong
  /// `ETag`. A download that broke off or was cancelled leaves that folder. A file that is replaced keeps its mode.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the file to make or to replace; its folder must exist.
  ///   - cachePolicy: how to use the cache; nil uses the policy of `options`, else the request's, else the
  ///     configuration's.
  ///   - options: the settings of this request.
  ///   - delegate: called instead of the session's delegate.
  ///   - progress: called after each piece, and at the end, not on the caller's actor.
  /// - Throws: `UnexpectedStatus` for a status other than 2xx, for 204, 205, and for a 206 without `Range` in
  ///   the request; `URLError`, `CocoaError` if the file cannot be written.
  @discardableResult
  public func download(
    for request: URLRequest, to destination: URL, cachePolicy: CachePolicy? = nil,
    options: LoadOptions = LoadOptions(), delegate: (any URLSessionTaskDelegate)? = nil,
    progress: (@Sendable (DownloadProgress) -> Void)? = nil
  ) async throws -> URLResponse {
    var options = options.using(cachePolicy)
    // The request for the rest of a part and the one after it are reported as one.
    let meter = options.meter(cache.configuration.clock)
    defer { meter?.finish() }
    options.onMetrics = nil
    try Self.requireFolder(of: destination)
    let target = DownloadTarget(url: destination, progress: progress)
    if let covered = await coveredPart(of: request, at: target, options: options) {
      let placed: URLResponse? = try await reading(
        request, content: .none, options: options, delegate: delegate
      ) { loaded in
        let loaded = loaded.metered(meter, endsRequest: false)
        if let whole = loaded.cached, covered.goesOn(insteadOf: whole, now: cache.configuration.clock.now) {
          loaded.body.source.cancel()
          return nil
        }
        return try await place(loaded, of: request, at: target, options: options)
      }
      if let placed { return placed }
    }
    if let response = try await continuePart(
      of: request, at: target, options: options, delegate: delegate, meter: meter)
    {
      return response
    }
    return try await reading(
      request, content: try RequestBody(request), options: options, delegate: delegate
    ) { loaded in
      try await place(
        loaded.metered(meter, endsRequest: false), of: request, at: target, options: options)
    }
  }

  /// - Throws: `CocoaError.fileNoSuchFile` if the folder of a file does not exist.
  private static func requireFolder(of destination: URL) throws {
    let folder = destination.deletingLastPathComponent()
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: folder.path, isDirectory: &isDirectory)
    guard !exists || !isDirectory.boolValue else { return }
    throw CocoaError(
      .fileNoSuchFile,
      userInfo: [
        NSFilePathErrorKey: folder.path,
        NSLocalizedDescriptionKey:
          "cannot download to \(destination.path): the folder \(folder.path) does not exist",
      ])
  }

  /// Whether a response with this status has the requested content: it is not an unrequested part, and has
  /// content.
  static func hasContent(_ status: Int, of request: URLRequest) -> Bool {
    switch status {
    case 204, 205: false
    case 206: request.value(forHTTPHeaderField: "Range") != nil
    default: (200...299).contains(status)
    }
  }

  /// Loads a response into a file. Only a download to a destination continues what broke off if the cache does not
  /// store the response.
  ///
  /// - Parameters: as for `data(for:cachePolicy:options:delegate:)`.
  /// - Returns: a file, whatever the status, which the caller has to move or remove; and the response.
  /// - Throws: `URLError`, `CocoaError` if the file cannot be written.
  public func download(
    for request: URLRequest, cachePolicy: CachePolicy? = nil, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await reading(
      request, content: try RequestBody(request), options: options.using(cachePolicy), delegate: delegate
    ) { loaded in
      let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("swift-http-cache-download-\(UUID().uuidString)")
      try await write(loaded.body, to: DownloadTarget(url: url))
      return (url, loaded.response)
    }
  }

  /// Loads a response into a file.
  ///
  /// - Parameters: as for `download(for:cachePolicy:options:delegate:)`.
  /// - Throws: `URLError`, `CocoaError` if the file cannot be written.
  public func download(
    from url: URL, cachePolicy: CachePolicy? = nil, options: LoadOptions = LoadOptions(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await download(
      for: URLRequest(url: url), cachePolicy: cachePolicy, options: options, delegate: delegate)
  }
}
