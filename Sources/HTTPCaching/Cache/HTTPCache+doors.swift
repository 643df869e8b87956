package import HTTPCacheSemantics
package import HTTPCacheStore
package import HTTPTypes

/// Functions that only the doors of this library need.
extension HTTPCache {
  /// Like `peek(_:options:)`, for a door that otherwise calls `respond`. Nil as long as there are changes that the
  /// store failed to make, because `respond` tries them again.
  ///
  /// - Parameter mayUse: whether the caller accepts the stored head.
  package func peek(
    _ request: HTTPRequest, options: RequestOptions, where mayUse: (HTTPResponse) -> Bool
  ) -> CacheResponse? {
    guard engine.shelf.failedChanges.isEmpty, !options.isPrivate(under: configuration.rules) else {
      return nil
    }
    return engine.answers.peek(
      request, partition: options.partition, bodyForms: options.bodyForms,
      separatesCredentials: options.separatesCredentials, where: mayUse)
  }

  /// The stored response to a request, whatever its age, with the request's `Range` applied; conditions are
  /// ignored. Nil if nothing is stored, or less than the request asks for.
  ///
  /// - Parameters:
  ///   - partition: as in `RequestOptions.partition`.
  ///   - forms: the forms of the body that the caller can use.
  ///   - mayUse: whether the caller accepts a stored response.
  package func stored(
    for request: HTTPRequest, partition: String = "", in forms: BodyForms = .decoded,
    where mayUse: (StoredResponse) -> Bool = { _ in true }
  ) -> (response: CacheResponse, record: CacheRecord)? {
    engine.answers.storedOfAnyAge(for: request, partition: partition, in: forms, where: mayUse)
  }

  /// Stores a response that the caller fetched outside this cache and asks to store. If RFC 9111 §3 does not
  /// allow storing it, it is stored as invalidated: it answers no request before the origin has confirmed it.
  /// It is not stored if it must not be in a shared cache, or if an override or the cache's hook forbids it.
  ///
  /// - Parameters:
  ///   - partition: as in `RequestOptions.partition`.
  ///   - turn: where the hook runs.
  /// - Returns: why the response is not stored; nil if it is.
  @discardableResult
  package func adopt(
    _ adopted: AdoptedResponse, to request: HTTPRequest, partition: String = "", asking turn: HookTurn
  ) async -> StorageRefusal? {
    await Adoption(lookup: engine.lookup, shelf: engine.shelf)
      .store(adopted, to: request, partition: partition, asking: turn)
  }

  /// Removes everything stored in a partition for the target of a request, under each of its names.
  package func removeStored(for request: HTTPRequest, partition: String = "") async {
    guard let place = engine.lookup.place(of: request, in: partition) else { return }
    let names = engine.lookup.names(of: place.key, rules: place.rules)
    for removed in await engine.shelf.removeAll(of: place.key, storedUnder: names) {
      engine.observers.tell(.removed(removed, .requested))
    }
  }

  /// Invalidates what a request changed that did not go to the origin through this cache (RFC 9111 §4.4), and
  /// the groups that its response names (RFC 9875 §3).
  package func invalidate(after request: HTTPRequest, _ response: HTTPResponse) async {
    await engine.shelf.invalidate(Invalidation.targets(request: request, response: response))
    if let target = CacheKey.target(of: request) {
      await engine.shelf.invalidate(
        groups: CacheGroups.invalidated(request: request, response: response), of: target)
    }
  }

  /// Lets the next request complete an incomplete response although the last completion brought nothing. For a
  /// caller that knows that the connection broke, and that bounds its attempts.
  package func mayCompleteAgain(_ request: HTTPRequest) {
    guard let place = engine.lookup.place(of: request, in: "") else { return }
    engine.shelf.failedCompletions.remove(place.key)
  }

  /// Why the cache's offline state forbids a request outside the cache; nil if the request may be sent. Tells
  /// the observer.
  package func refusalWhileOffline(of request: HTTPRequest) -> UpstreamError? {
    engine.offlineReason.map { engine.notAsked(CacheKey.target(of: request) ?? "", $0) }
  }

  /// The unfinished work at this moment.
  package var unfinishedWork: UnfinishedWork {
    var work = UnfinishedWork()
    (work.flights, work.waiters) = engine.coalescing.counts
    work.transfers = engine.shelf.running.count
    work.backgroundTasks = engine.background.count + (engine.fleet?.background.count ?? 0)
    work.fetches = engine.fleet?.fetchCount ?? 0
    return work
  }
}

/// The amount of unfinished work of a cache, for tests that check that no work is left.
package struct UnfinishedWork: Sendable, Hashable {
  /// Keys for which a leader is asking the origin.
  package var flights = 0
  /// Followers that wait for a leader.
  package var waiters = 0
  /// Running transfers, counted once for each of their targets.
  package var transfers = 0
  /// Fetches that this node leads for all nodes of a fleet.
  package var fetches = 0
  /// Running background tasks.
  package var backgroundTasks = 0

  /// No unfinished work.
  package init() {}
}
