#if AsyncHTTPClient
  public import AsyncHTTPClient
  public import HTTPCaching

  /// A response of AsyncHTTPClient with its cache outcome. It has the properties of `HTTPClientResponse`:
  /// `status`, `headers`, `body`, `history`, `url`.
  @dynamicMemberLookup
  public struct CachedHTTPClientResponse: Sendable {
    /// The response, for code that takes AsyncHTTPClient's type.
    ///
    /// Its history has one element: the last request, after redirects.
    public var response: HTTPClientResponse
    /// Where it came from, and why.
    public let cacheOutcome: CacheOutcome
    /// The outcomes of the redirects that were followed, first to last.
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
