public import HTTPCaching

extension CachedURLSession {
  /// Loads a response and decodes its body as a `type`. With the policy `.networkElseCache()`, returns the last known
  /// value if the origin cannot be reached.
  ///
  /// - Parameters: as for `data(for:cachePolicy:options:delegate:)`.
  /// - Returns: the value with its source and its response.
  /// - Throws: `UnexpectedStatus` for a status other than 2xx, `URLError`, `DecodingError`.
  public func value<Value: Decodable>(
    of type: Value.Type, for request: URLRequest, cachePolicy: CachePolicy? = nil,
    options: LoadOptions = LoadOptions(), decoder: JSONDecoder = JSONDecoder(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> CachedValue<Value> {
    let (data, cached, response) = try await reading(
      request, content: try RequestBody(request), options: options.using(cachePolicy), delegate: delegate
    ) { loaded in
      (try await loaded.data(), loaded.cached, loaded.response)
    }
    if let response = response as? HTTPURLResponse, !(200...299).contains(response.statusCode) {
      throw UnexpectedStatus(response: response)
    }
    return CachedValue(
      try decoder.decode(type, from: data), from: CachedValueSource(cached), response: response)
  }

  /// Loads a response and decodes its body.
  ///
  /// - Parameters: as for `value(of:for:cachePolicy:options:decoder:delegate:)`.
  /// - Throws: `UnexpectedStatus` for a status other than 2xx, `URLError`, `DecodingError`.
  public func value<Value: Decodable>(
    of type: Value.Type, from url: URL, cachePolicy: CachePolicy? = nil,
    options: LoadOptions = LoadOptions(), decoder: JSONDecoder = JSONDecoder(),
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> CachedValue<Value> {
    try await value(
      of: type, for: URLRequest(url: url), cachePolicy: cachePolicy, options: options, decoder: decoder,
      delegate: delegate)
  }
}
