#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  /// The scheme and the authority of a request for its cache key.
  ///
  /// A server sees a path and, in `Host`, any text that the client wrote there. Responses are found only
  /// under the origin of their request, and absolute URIs in `Location` invalidate only within it.
  public struct RequestOrigin: Sendable {
    private let find: @Sendable (HTTPRequest) -> (scheme: String?, authority: String?)

    /// Computes the origin of each request.
    ///
    /// - Parameter find: returns scheme (`http` or `https`) and authority. If either is nil, the request is
    ///   not cached.
    public init(_ find: @escaping @Sendable (HTTPRequest) -> (scheme: String?, authority: String?)) {
      self.find = find
    }

    /// The authority that the request names in `Host` or `:authority`.
    ///
    /// - Parameters:
    ///   - scheme: the scheme of all requests, for a server behind a proxy that terminates TLS; nil uses the
    ///     connection's.
    ///   - authority: the authority of requests that name none, which HTTP/1.0 allows.
    public static func host(scheme: String? = nil, otherwise authority: String = "localhost")
      -> RequestOrigin
    {
      RequestOrigin { request in
        let named = request.authority ?? ""
        return (scheme ?? request.scheme ?? "http", named.isEmpty ? authority : named)
      }
    }

    /// One origin for all requests, whatever `Host` says: for a server whose responses do not depend on it.
    /// Clients cannot fill the cache with made-up names then.
    public static func fixed(scheme: String, authority: String) -> RequestOrigin {
      RequestOrigin { _ in (scheme, authority) }
    }

    /// The origin in `X-Forwarded-Proto` and `X-Forwarded-Host` from a reverse proxy, otherwise in `Host`.
    /// Only for servers that clients cannot reach without that proxy.
    public static func forwarded(otherwise authority: String = "localhost") -> RequestOrigin {
      RequestOrigin { request in
        let host = RequestOrigin.host(otherwise: authority).find(request)
        return (
          request.firstValue(of: "X-Forwarded-Proto")?.lowercased() ?? host.scheme,
          request.firstValue(of: "X-Forwarded-Host") ?? host.authority
        )
      }
    }

    /// The absolute request for a path of the site that a request of a server names: for `HTTPCache.remove(_:)` and
    /// `invalidate(_:)`, which change all partitions and variants.
    ///
    /// ```swift
    /// try await cache.invalidate(site.absolute(request, path: "/articles"))
    /// ```
    ///
    /// - Parameters:
    ///   - request: names the site, and the path unless `path` does.
    ///   - path: another path of the site, with its query.
    /// - Throws: `CacheError` with `invalidRequest` if there is no origin for the request, or the path begins without
    ///   `/`.
    public func absolute(_ request: Request, path: String? = nil) throws(CacheError) -> HTTPRequest {
      var head = request.head
      if let path { head.path = path }
      guard head.path?.hasPrefix("/") == true, let absolute = absolute(head) else {
        throw CacheError(
          .invalidRequest, "no origin for the request, or a path without a slash: \(head.path ?? "")")
      }
      return absolute
    }

    /// The request with its absolute target for the cache; nil if the target cannot be a key.
    func absolute(_ request: HTTPRequest) -> HTTPRequest? {
      let origin = find(request)
      guard let scheme = origin.scheme, let authority = origin.authority else { return nil }
      var absolute = request
      absolute.scheme = scheme
      absolute.authority = authority
      return CacheKey.target(of: absolute) == nil ? nil : absolute
    }
  }

  extension HTTPRequest {
    /// The first member of a list in a field; nil if there is none.
    fileprivate func firstValue(of name: String) -> String? {
      guard let name = HTTPField.Name(name), let list = headerFields[name] else { return nil }
      let first = list.split(separator: ",", omittingEmptySubsequences: false).first ?? ""
      let value = first.trimmingPrefix { $0 == " " || $0 == "\t" }
        .prefix { $0 != " " && $0 != "\t" }
      return value.isEmpty ? nil : String(value)
    }
  }
#endif
