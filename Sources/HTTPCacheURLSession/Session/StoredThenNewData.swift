public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The stored response with its body, followed by the origin's response if that is different.
public struct StoredThenNewData: AsyncSequence, Sendable {
  /// A body and its response.
  public typealias Element = (Data, URLResponse)

  let responses: StoredThenNew
  let url: URL

  /// Makes an iterator, which makes the request.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(responses: responses.makeAsyncIterator(), url: url)
  }

  /// Gives one or two responses.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var responses: StoredThenNew.AsyncIterator
    let url: URL

    /// The error of a second response that failed; nil if there was one or nothing had changed.
    public var failure: (any Error)? { responses.failure }

    /// The outcome of asking the origin if it had nothing new: it confirmed the first response, or sent an
    /// equal one. nil before the end, after a second response, and after a failure.
    public var confirmation: CacheOutcome? { responses.confirmation }

    /// The next response; nil after the last.
    ///
    /// - Throws: `URLError`, if there was no response before.
    public mutating func next() async throws -> (Data, URLResponse)? {
      do {
        guard let response = try await responses.next() else { return nil }
        let final = response.redirects.isEmpty ? url : URL(string: response.finalTarget) ?? url
        guard let made = CachedHTTPURLResponse(response, url: final) else {
          throw URLError(.badServerResponse)
        }
        let loaded = LoadedResponse(response: made, body: response.body, cached: response)
        return (try await loaded.data(), made)
      } catch {
        throw CachedURLSession.foundations(error, url)
      }
    }
  }
}

extension CachedURLSession {
  /// The stored response at once, if its use is not forbidden, followed by the origin's response if that is
  /// different. Only one response if nothing is stored, the stored response is fresh, or nothing has changed.
  ///
  /// ```swift
  /// for try await (data, response) in try session.responses(to: request) { show(data) }
  /// ```
  ///
  /// Redirects are followed without asking a delegate, with the cookies of the first URL.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - cachePolicy: how to use the cache; nil uses the request's policy, or if it has none, the
  ///     configuration's.
  /// - Throws: `URLError` for a request that cannot be cached.
  public func responses(
    to request: URLRequest, cachePolicy: CachePolicy? = nil
  ) throws -> StoredThenNewData {
    do {
      try checkValid()
      guard let url = request.url else { throw URLError(.badURL) }
      let content = try RequestBody(request)
      let delegates = [delegate].compactMap { $0 }
      let made = try cacheRequest(request, content)
      let responses = cache.responses(
        to: made, body: try content.make(),
        policy: Self.policy(cachePolicy ?? policy(of: request), for: made),
        options: RequestOptions(
          bodyForms: .decoded,
          context: RequestContext(
            prototype: request, delegates: delegates,
            isShared: cache.configuration.rules.mode == .shared)),
        via: origin)
      return StoredThenNewData(responses: responses, url: url)
    } catch {
      throw Self.foundations(error, request.url)
    }
  }
}
