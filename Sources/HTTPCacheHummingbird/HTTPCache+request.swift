#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  extension HTTPCache {
    /// Removes what is stored for a request of a server, in all partitions and variants.
    ///
    /// - Parameters:
    ///   - request: names the site, and the path unless `path` does.
    ///   - path: another path of the site, with its query, such as `/articles`.
    ///   - origin: the origin of the middleware.
    /// - Returns: the number of responses removed.
    /// - Throws: `CacheError` with `invalidRequest` if `origin` has none for the request, or the path begins without
    ///   `/`; `CacheError` if the directory cannot be written.
    @discardableResult
    public func remove(
      _ request: Request, path: String? = nil, origin: RequestOrigin
    ) async throws(CacheError) -> Int {
      try await remove(try origin.target(of: request, path: path))
    }

    /// Invalidates what is stored for a request of a server, in all partitions and variants: responses are kept, and
    /// validated before they are used again (RFC 9111 §4.4).
    ///
    /// - Parameters: as for `remove(_:path:origin:)`.
    /// - Returns: the number of responses invalidated; nil if the store does not count.
    /// - Throws: as `remove(_:path:origin:)`.
    @discardableResult
    public func invalidate(
      _ request: Request, path: String? = nil, origin: RequestOrigin
    ) async throws(CacheError) -> Int? {
      try await invalidate(try origin.target(of: request, path: path))
    }
  }

  extension RequestOrigin {
    /// The absolute request for a path of the site that a request names.
    fileprivate func target(of request: Request, path: String?) throws(CacheError) -> HTTPRequest {
      var head = request.head
      if let path { head.path = path }
      guard head.path?.hasPrefix("/") == true, let absolute = absolute(head) else {
        throw CacheError(
          .invalidRequest, "no origin for the request, or a path without a slash: \(head.path ?? "")")
      }
      return absolute
    }
  }
#endif
