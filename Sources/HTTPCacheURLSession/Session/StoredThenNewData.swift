public import HTTPCaching

/// The stored response with its body, followed by the origin's response if that is different.
public struct StoredThenNewData: AsyncSequence, Sendable {
  /// A response, or why there is no second one.
  public enum Element: Sendable {
    /// A body and its response.
    case response(Data, URLResponse)
    /// The origin failed after the stored response was given: what is shown may be out of date.
    case failure(any Error)
  }

  let responses: StoredThenNew
  let url: URL
  let makeMeter: @Sendable () -> LoadMeter?

  /// Makes an iterator, which makes the request.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(responses: responses.makeAsyncIterator(), url: url, meter: makeMeter())
  }

  /// Gives one or two elements.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var responses: StoredThenNew.AsyncIterator
    let url: URL
    let meter: LoadMeter?
    var hasToldFailure = false

    /// The outcome of asking the origin if it had nothing new: it confirmed the first response, or sent an
    /// equal one. nil before the end, after a second response, and after a failure.
    public var confirmation: CacheOutcome? { responses.confirmation }

    /// The next response, or the failure of the second one; nil after that.
    ///
    /// - Throws: `URLError`, if there was no response before; `URLError.cancelled`.
    public mutating func next() async throws -> Element? {
      do {
        guard let response = try await responses.next() else {
          meter?.finish()
          guard let failure = responses.failure, !hasToldFailure else { return nil }
          hasToldFailure = true
          return .failure(CachedURLSession.foundationError(failure, url))
        }
        let made = try CachedHTTPURLResponse.made(of: response, to: url)
        let loaded = LoadedResponse(response: made, body: response.body, cached: response)
          .metered(meter, endsRequest: false)
        return .response(try await loaded.data(), made)
      } catch {
        meter?.finish()
        throw CachedURLSession.foundationError(error, url)
      }
    }
  }
}

extension CachedURLSession {
  /// The stored response at once, if its use is not forbidden, followed by the origin's response if that is
  /// different, or by its failure. Only one response if nothing is stored, the stored response is fresh, or
  /// nothing has changed.
  ///
  /// ```swift
  /// for try await update in try session.responses(to: request) {
  ///   switch update {
  ///   case .response(let data, _): show(data)
  ///   case .failure(let error): note(error.localizedDescription)
  ///   }
  /// }
  /// ```
  ///
  /// Redirects are followed without asking a delegate, with the cookies of the first URL.
  /// `options.onMetrics` gets the metrics of the last response.
  ///
  /// - Parameters: as for `data(for:cachePolicy:options:delegate:)`.
  /// - Throws: `URLError` for a request that cannot be cached.
  public func responses(
    to request: URLRequest, cachePolicy: CachePolicy? = nil, options: LoadOptions = LoadOptions()
  ) throws -> StoredThenNewData {
    do {
      try checkValid()
      guard let url = request.url else { throw URLError(.badURL) }
      let content = try RequestBody(request)
      let options = options.using(cachePolicy)
      let context = RequestContext(
        prototype: request, content: content, delegates: [delegate].compactMap { $0 },
        isShared: cache.configuration.rules.mode == .shared)
      let made = try cacheRequest(request, content)
      let responses = cache.responses(
        to: made, body: try content.make(),
        policy: options.cachePolicy ?? policy(of: request),
        options: self.options(options, context, redirectLimit: RequestOptions().redirectLimit), via: upstream)
      return StoredThenNewData(responses: responses, url: url) { [clock = cache.configuration.clock] in
        options.meter(clock)
      }
    } catch {
      throw Self.foundationError(error, request.url)
    }
  }
}
