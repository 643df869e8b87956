#if AsyncHTTPClient
  public import AsyncHTTPClient
  public import HTTPCaching

  /// A response of AsyncHTTPClient, and where it came from. What `HTTPClientResponse` has, it has:
  /// `status`, `headers`, `body`, `history`, `url`.
  @dynamicMemberLookup
  public struct CachedHTTPClientResponse: Sendable {
    /// The response, for code that takes AsyncHTTPClient's type.
    ///
    /// Its history has one element: the request that was answered last, after redirects.
    public var response: HTTPClientResponse
    /// Where it came from, and why.
    public let cacheOutcome: CacheOutcome
    /// The outcomes of the redirects on the way, first to last.
    public let redirects: [CacheOutcome]

    /// A property of the response.
    public subscript<Value>(dynamicMember path: WritableKeyPath<HTTPClientResponse, Value>) -> Value {
      get { response[keyPath: path] }
      set { response[keyPath: path] = newValue }
    }

    /// A property of the response.
    public subscript<Value>(dynamicMember path: KeyPath<HTTPClientResponse, Value>) -> Value {
      response[keyPath: path]
    }
  }
#endif
