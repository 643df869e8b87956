public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CachedURLSession {
  /// Loads a response into a file, which takes the place of what is at `destination` at once, when all
  /// of it is there. On any failure `destination` stays as it was.
  ///
  /// The body is never in memory as a whole. A stored one is cloned where the file system can. One that
  /// broke off is continued with a range the next time, if the origin allows it.
  ///
  /// - Parameters:
  ///   - request: what to load.
  ///   - destination: a file to make or to replace; its folder must exist.
  ///   - cachePolicy: how to use the cache; nil is what the request says, and where it says nothing,
  ///     the configuration.
  ///   - delegate: asked in place of the session's.
  ///   - progress: is told after each piece, and once all is there.
  /// - Throws: `UnexpectedStatus` for a status that is no 2xx, for 204, 205, and a 206 without `Range` in
  ///   the request; `URLError`, `CocoaError` if the file cannot be written.
  @discardableResult
  public func download(
    for request: URLRequest, to destination: URL, cachePolicy: CachePolicy? = nil,
    delegate: (any URLSessionTaskDelegate)? = nil,
    progress: (@Sendable (DownloadProgress) -> Void)? = nil
  ) async throws -> URLResponse {
    try await reading(request, try RequestBody(request), cachePolicy, delegate) { loaded in
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

  /// Whether a response with the status is what the destination is to have: not a part that nobody asked
  /// for, and not one without content.
  private static func hasContent(_ status: Int, of request: URLRequest) -> Bool {
    switch status {
    case 204, 205: false
    case 206: request.value(forHTTPHeaderField: "Range") != nil
    default: (200...299).contains(status)
    }
  }

  /// Loads a response into a file.
  ///
  /// - Returns: a file that belongs to the caller, who moves or removes it, whatever the status; and
  ///   the response.
  /// - Throws: `URLError`, `CocoaError` if the file cannot be written.
  public func download(
    for request: URLRequest, cachePolicy: CachePolicy? = nil,
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await reading(request, try RequestBody(request), cachePolicy, delegate) { loaded in
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
