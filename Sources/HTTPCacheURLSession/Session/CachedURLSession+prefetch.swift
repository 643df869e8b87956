public import HTTPCaching

extension CachedURLSession {
  /// The maximum number of requests that one prefetch runs at a time.
  private static let prefetchWidth = 4

  /// Loads responses into the cache, four at a time. Requests whose stored response is fresh are not sent; a failure
  /// ends only its own request. A later request joins a transfer that runs.
  ///
  /// - Parameters:
  ///   - requests: the requests that will be made, most urgent first.
  ///   - options: the settings of each request; its metrics are reported for each.
  ///   - priority: the priority of the transfers, unless `options` has one.
  /// - Returns: the task that loads; cancel it to stop. Its value has a result for each request, in their order:
  ///   the outcome, which says whether the response was stored before or is now and why not; or a `URLError`, for
  ///   example `cancelled`, or `unsupportedURL` for a URL that is neither http nor https.
  @discardableResult
  public func prefetch(
    _ requests: [URLRequest], options: LoadOptions = LoadOptions(), priority: TaskPriority = .low
  ) -> Task<[Result<CacheOutcome, any Error>], Never> {
    Task(priority: options.priority ?? priority) {
      await withTaskGroup(of: (Int, Result<CacheOutcome, any Error>).self) { group in
        var results = [Result<CacheOutcome, any Error>](
          repeating: .failure(URLError(.cancelled)), count: requests.count)
        for (index, request) in requests.enumerated() {
          if index >= Self.prefetchWidth, let (done, result) = await group.next() { results[done] = result }
          if Task.isCancelled { break }
          group.addTask { (index, await self.store(request, options)) }
        }
        for await (index, result) in group { results[index] = result }
        return results
      }
    }
  }

  /// Loads a response, and reads it to its end unless it is stored already.
  private func store(
    _ request: URLRequest, _ options: LoadOptions
  ) async -> Result<CacheOutcome, any Error> {
    let meter = options.meter(cache.configuration.clock)
    defer { meter?.finish() }
    do {
      guard let scheme = request.url?.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
        throw URLError.make(.unsupportedURL, "only http and https can be cached", url: request.url)
      }
      let loaded = try await load(request, content: try RequestBody(request), options: options)
        .metered(meter, endsRequest: false)
      guard let outcome = loaded.cached?.outcome else { throw URLError(.unsupportedURL) }
      if loaded.isFromStore {
        loaded.body.source.cancel()
      } else {
        while try await loaded.body.source.next() != nil {}
        // A cancelled body may end as if it were complete.
        try Task.checkCancellation()
      }
      return .success(outcome)
    } catch {
      return .failure(Self.foundationError(error, request.url))
    }
  }
}
