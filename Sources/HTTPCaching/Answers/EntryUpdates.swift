import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The stored response to a request, and each response that replaces it: see `HTTPCache.watch(_:options:)`.
public struct EntryUpdates: AsyncSequence, Sendable {
  /// Stored responses, whatever their age.
  public typealias Element = CacheResponse

  let cache: HTTPCache
  let request: HTTPRequest
  let options: RequestOptions
  let origin: String

  /// Starts to watch.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(updates: self, signals: cache.watches.signals(of: origin).makeAsyncIterator())
  }

  /// Waits for responses to be stored.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let updates: EntryUpdates
    var signals: AsyncStream<Void>.AsyncIterator
    private var hasLooked = false
    private var last: CacheRecord?

    init(updates: EntryUpdates, signals: AsyncStream<Void>.AsyncIterator) {
      self.updates = updates
      self.signals = signals
    }

    /// The stored response if there is one that was not returned yet; otherwise waits until one is stored. nil if
    /// the task is cancelled.
    public mutating func next() async -> CacheResponse? {
      while true {
        if hasLooked, await signals.next() == nil { return nil }
        hasLooked = true
        let found = try? updates.cache.storedResponse(
          to: updates.request, policy: .cacheOnly, options: updates.options)
        guard let found, let record = found.record, !StoredThenNew.areSame(record, last) else { continue }
        last = record
        return found
      }
    }
  }
}

extension HTTPCache {
  /// The stored response to a request, if there is one, and then each response that is stored in its place. No
  /// request is sent.
  ///
  /// A response that is only confirmed (304) is not repeated, and a removal is not told. Responses count that this
  /// object stores, not those of other processes. The sequence ends when its task is cancelled.
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
