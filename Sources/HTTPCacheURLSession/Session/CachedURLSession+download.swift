public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CachedURLSession {
  /// Loads a response into a file, which replaces the file at `destination` in one step when it is complete.
  /// After an error `destination` is unchanged.
  ///
  /// The body is never in memory as a whole. A stored body is cloned where the file system supports it. A
  /// body that broke off is continued with a range by the next request, if the origin allows it.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the file to make or to replace; its folder must exist.
  ///   - cachePolicy: how to use the cache; nil uses the request's policy, or if it has none, the
  ///     configuration's.
  ///   - delegate: called instead of the session's delegate.
  ///   - progress: called after each piece, and at the end.
  /// - Throws: `UnexpectedStatus` for a status other than 2xx, for 204, 205, and for a 206 without `Range` in
  ///   the request; `URLError`, `CocoaError` if the file cannot be written.
  @discardableResult
  public func download(
    for request: URLRequest, to destination: URL, cachePolicy: CachePolicy? = nil,
    delegate: (any URLSessionTaskDelegate)? = nil,
    progress: (@Sendable (DownloadProgress) -> Void)? = nil
  ) async throws -> URLResponse {
    try await download(
      for: request, to: destination, options: LoadOptions(cachePolicy: cachePolicy), delegate: delegate,
      progress: progress)
  }

  /// Loads a response into a file, which replaces the file at `destination` in one step when it is complete.
  /// After an error `destination` is unchanged.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the file to make or to replace; its folder must exist.
  ///   - options: the settings of this request.
  ///   - delegate: called instead of the session's delegate.
  ///   - progress: called after each piece, and at the end.
  /// - Throws: as `download(for:to:cachePolicy:delegate:progress:)`.
  @discardableResult
  public func download(
    for request: URLRequest, to destination: URL, options: LoadOptions,
    delegate: (any URLSessionTaskDelegate)? = nil,
    progress: (@Sendable (DownloadProgress) -> Void)? = nil
  ) async throws -> URLResponse {
    try Self.requireFolder(of: destination)
    return try await reading(request, try RequestBody(request), options, delegate) { loaded in
      if let response = loaded.response as? HTTPURLResponse,
        !Self.hasContent(response.statusCode, of: request)
      {
        loaded.body.source.cancel()
        throw UnexpectedStatus(response: response)
      }
      let file = try await FileSink.file(
        of: loaded.body, in: destination.deletingLastPathComponent(), progress)
      try file.move(to: destination)
      return loaded.response
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
  private static func hasContent(_ status: Int, of request: URLRequest) -> Bool {
    switch status {
    case 204, 205: false
    case 206: request.value(forHTTPHeaderField: "Range") != nil
    default: (200...299).contains(status)
    }
  }

  /// Loads a response into a file.
  ///
  /// - Returns: a file, whatever the status, which the caller has to move or remove; and the response.
  /// - Throws: `URLError`, `CocoaError` if the file cannot be written.
  public func download(
    for request: URLRequest, cachePolicy: CachePolicy? = nil,
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await download(for: request, options: LoadOptions(cachePolicy: cachePolicy), delegate: delegate)
  }

  /// Loads a response into a file.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - options: the settings of this request.
  ///   - delegate: called instead of the session's delegate.
  /// - Returns: a file, whatever the status, which the caller has to move or remove; and the response.
  /// - Throws: `URLError`, `CocoaError` if the file cannot be written.
  public func download(
    for request: URLRequest, options: LoadOptions, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await reading(request, try RequestBody(request), options, delegate) { loaded in
      let folder = FileManager.default.temporaryDirectory
      let file = try await FileSink.file(of: loaded.body, in: folder, nil)
      let url = folder.appendingPathComponent("swift-http-cache-download-\(UUID().uuidString)")
      try file.move(to: url)
      return (url, loaded.response)
    }
  }

  /// Loads a response into a file.
  ///
  /// - Throws: `URLError`, `CocoaError` if the file cannot be written.
  public func download(
    from url: URL, cachePolicy: CachePolicy? = nil, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), cachePolicy: cachePolicy, delegate: delegate)
  }
}
