public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CachedURLSession {
  /// Loads a response and decodes its body.
  ///
  /// - Parameters:
  ///   - type: what to decode.
  ///   - request: what to load.
  ///   - cachePolicy: how to use the cache; nil is what the request says, and where it says nothing,
  ///     the configuration. `.networkElseCache()` gives the last known value where the origin cannot be
  ///     reached.
  ///   - decoder: reads the body.
  ///   - delegate: asked in place of the session's.
  /// - Returns: the value: fresh if the origin sent or confirmed it, else cached, with its date.
  /// - Throws: `UnexpectedStatus` for a status that is no 2xx, `URLError`, `DecodingError`.
  public func value<Value: Decodable>(
    of type: Value.Type, for request: URLRequest, cachePolicy: CachePolicy? = nil,
    decoder: JSONDecoder = JSONDecoder(), delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> CachedValue<Value> {
    let (data, cached, response) = try await reading(
      request, try RequestBody(request), cachePolicy, delegate
    ) { loaded in
      (try await loaded.data(), loaded.cached, loaded.response)
    }
    if let response = response as? HTTPURLResponse, !(200...299).contains(response.statusCode) {
      throw UnexpectedStatus(response: response)
    }
    let value = try decoder.decode(type, from: data)
    guard case .hit = cached?.outcome, let stored = cached?.storedAt else { return .fresh(value) }
    return .cached(value, Date(timeIntervalSince1970: TimeInterval(stored.seconds)))
  }

  /// Loads a response and decodes its body.
  ///
  /// - Throws: as for `value(of:for:cachePolicy:decoder:delegate:)`.
  public func value<Value: Decodable>(
    of type: Value.Type, from url: URL, cachePolicy: CachePolicy? = nil,
    decoder: JSONDecoder = JSONDecoder(), delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> CachedValue<Value> {
    try await value(
      of: type, for: URLRequest(url: url), cachePolicy: cachePolicy, decoder: decoder,
      delegate: delegate)
  }
}
