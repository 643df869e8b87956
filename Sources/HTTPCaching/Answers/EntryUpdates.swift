import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The stored response to a request, and its changes: see `HTTPCache.watch(_:options:)`.
public struct EntryUpdates: AsyncSequence, Sendable {
  /// A change of the entry.
  public typealias Element = EntryUpdate

  let engine: Engine
  let request: HTTPRequest
  let options: RequestOptions
  let origin: String

  /// Starts to watch.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(updates: self, signals: engine.observers.watches.signals(of: origin).makeAsyncIterator())
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
    @concurrent
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
        found = try updates.engine.answers.stored(
          for: updates.request, policy: .cacheOnly, options: updates.options, event: .never)
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
      guard let known = last, let variants = try? updates.engine.lookup.stored(under: known.key) else {
        return nil
      }
      let isKept = variants.contains {
        StoredThenNew.areSame($0.record, known)
          && ($0.record.response.isInvalidated || $0.record.response.isExpired)
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

/// A change of the entry that a caller watches: see `HTTPCache.watch(_:options:)`.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum EntryUpdate: Sendable {
  /// This response is stored: it was there when the watch began, or it replaces the last one.
  case stored(CacheResponse)
  /// The origin confirmed the last response; its fields may be new, its body is not (RFC 9111 §4.3.4). A second
  /// confirmation within a second that changes no field is not told.
  case freshened(CacheResponse)
  /// The last response is kept, and no longer used before the origin confirms it (RFC 9111 §4.4).
  case invalidated
  /// The last response is removed.
  case removed
}
