import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

/// The stored response to a request, and its changes: see `HTTPCache.watch(_:options:)`.
public struct EntryUpdates: AsyncSequence, Sendable {
  /// A change of the entry.
  public typealias Element = EntryUpdate

  let cache: HTTPCache
  let request: HTTPRequest
  let options: RequestOptions
  let origin: String

  /// Starts to watch.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(updates: self, signals: cache.watches.signals(of: origin).makeAsyncIterator())
  }

  /// Waits for the entry to change.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let updates: EntryUpdates
    var signals: AsyncStream<Void>.AsyncIterator
    private var hasLooked = false
    private var last: CacheRecord?
    private var isInvalidated = false

    init(updates: EntryUpdates, signals: AsyncStream<Void>.AsyncIterator) {
      self.updates = updates
      self.signals = signals
    }

    /// The stored response if there is one that was not returned yet; otherwise waits until the entry changes. nil
    /// if the task is cancelled.
    public mutating func next() async -> EntryUpdate? {
      while true {
        if hasLooked, await signals.next() == nil { return nil }
        hasLooked = true
        if let update = look() { return update }
      }
    }

    /// How the entry differs from its last update; nil if not at all.
    private mutating func look() -> EntryUpdate? {
      let found: CacheResponse?
      do {
        found = try updates.cache.storedResponse(
          to: updates.request, policy: .cacheOnly, options: updates.options)
      } catch { return nil }
      guard let found, let record = found.record else { return lookAfterLoss() }
      defer { (last, isInvalidated) = (record, false) }
      guard StoredThenNew.areSame(record, last), let last else { return .stored(found) }
      let isSame =
        !isInvalidated && record.response.responseTime == last.response.responseTime
        && record.response.head == last.response.head
      return isSame ? nil : .freshened(found)
    }

    /// Nothing answers the request any more: the entry is removed, or kept until the origin confirms it.
    private mutating func lookAfterLoss() -> EntryUpdate? {
      guard let known = last else { return nil }
      let cache = updates.cache
      guard let variants = try? cache.store.read(known.key) else { return nil }
      let isKept = cache.failedChanges.applied(to: variants).contains {
        StoredThenNew.areSame($0.record, known) && $0.record.response.isInvalidated
      }
      guard isKept else {
        (last, isInvalidated) = (nil, false)
        return .removed
      }
      defer { isInvalidated = true }
      return isInvalidated ? nil : .invalidated
    }
  }
}

extension HTTPCache {
  /// The stored response to a request, if there is one, and then its changes: another response stored in its
  /// place, fields confirmed by the origin, an invalidation, a removal. No request is sent.
  ///
  /// Changes count that go through this object, whichever code makes them. Those of other processes and evictions
  /// are noticed no earlier than the next change of an entry of the same origin. Changes between two calls of
  /// `next()` are one update: the last state. A response that may never be used without the origin (`no-cache`,
  /// RFC 9111 §5.2.2.4) is not given. The sequence ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - request: a GET with scheme, authority and path.
  ///   - options: partition and whether decoded bodies are accepted.
  /// - Throws: `CacheError` with `invalidRequest` for a request without an absolute http or https URI.
  public func watch(
    _ request: HTTPRequest, options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> EntryUpdates {
    guard let target = CacheKey.target(of: request), let origin = TargetURI.origin(of: target) else {
      throw CacheError(.invalidRequest, "the request has no absolute http or https URL")
    }
    return EntryUpdates(cache: self, request: request, options: options, origin: origin)
  }
}
