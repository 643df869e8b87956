import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The stored answer to a request, followed by the origin's answer if that is different: see
/// `HTTPCache.responses(to:body:policy:options:via:)`.
///
/// Each iterator makes a new request. Only the first one can send a body.
public struct StoredThenNew: AsyncSequence, Sendable {
  /// The answers in order.
  public typealias Element = CacheResponse

  let cache: HTTPCache
  let request: HTTPRequest
  let body: MessageBody?
  let policy: CachePolicy
  let options: RequestOptions
  let upstream: any Upstream

  /// Makes an iterator, which makes the request.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sequence: self) }

  /// Gives one or two answers.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum State {
      case beginning
      case gave(CacheResponse, content: QueryContent?)
      case ended
    }

    private let sequence: StoredThenNew
    private var state = State.beginning
    /// The error of a second answer that failed: an `UpstreamError`, an `OriginStatusError`, or what reading
    /// the origin's body threw. nil if there was a second answer or nothing had changed.
    public private(set) var failure: (any Error)?
    /// The outcome of asking the origin if it had nothing new: it confirmed the first answer, or sent an equal
    /// one. nil before the end, after a second answer, and after a failure.
    public private(set) var confirmation: CacheOutcome?

    init(sequence: StoredThenNew) { self.sequence = sequence }

    /// The next answer; nil after the last.
    ///
    /// - Throws: what `HTTPCache.respond` throws, if there was no answer before; `CancellationError`.
    @concurrent
    public mutating func next() async throws -> CacheResponse? {
      switch state {
      case .ended: return nil
      case .gave(let first, let content):
        state = .ended
        do {
          let (answer, isNews) = try await sequence.news(since: first, content)
          if isNews { return answer }
          confirmation = answer.outcome
          return nil
        } catch {
          try Task.checkCancellation()
          failure = error
          return nil
        }
      case .beginning:
        state = .ended
        let (first, content, isLast) = try await sequence.first()
        if !isLast { state = .gave(first, content: content) }
        return first
      }
    }
  }
}

extension StoredThenNew {
  private func first() async throws -> (CacheResponse, QueryContent?, isLast: Bool) {
    let content = try await QueryContent.read(
      body, of: request, policy: policy, rules: cache.configuration.rules)
    let sent = content.map { $0.makeBody() } ?? body
    guard storedComesFirst, content?.obstacle == nil else {
      return (try await respond(sent, policy), content, true)
    }
    if policy == .standard,
      let fresh = try cache.engine.answers.stored(
        for: request, content: content, policy: .standard, options: options, onlyFresh: true)
    {
      return (fresh, content, true)
    }
    if let stored = try cache.engine.answers.stored(
      for: request, content: content, policy: .cacheOnly, options: options), isWanted(stored.outcome)
    {
      return (stored, content, false)
    }
    return (try await respond(sent, policy), content, true)
  }

  private var storedComesFirst: Bool {
    switch policy {
    case .cacheElseNetwork, .cacheOnly, .bypass: return false
    case .standard, .revalidate, .reload, .reloadEverywhere, .networkElseCache: break
    }
    // Content that is no part of the key can be sent only once.
    if body != nil, request.method != .query { return false }
    return Reuse.methodMiss(request) == nil && !RequestDirectives(request.headerFields).onlyIfCached
  }

  private func isWanted(_ outcome: CacheOutcome) -> Bool {
    guard case .networkElseCache(let maxStale?, _) = policy,
      case .hit(let age, let lifetime, _) = outcome
    else { return true }
    return age - lifetime <= maxStale
  }

  private func respond(_ body: MessageBody?, _ policy: CachePolicy) async throws -> CacheResponse {
    try await cache.respond(
      to: request, body: body, policy: policy, options: options, via: upstream)
  }

  /// Whether two records describe the same stored response, freshened or not.
  static func areSame(_ one: CacheRecord?, _ other: CacheRecord?) -> Bool {
    guard let one, let other else { return false }
    return one.sequence == other.sequence && one.key == other.key
  }

  /// The origin's answer, and whether the answer is news after the first answer.
  private func news(
    since first: CacheResponse, _ content: QueryContent?
  ) async throws -> (CacheResponse, isNews: Bool) {
    let asking: CachePolicy =
      switch policy {
      case .reload, .reloadEverywhere: policy
      case .standard, .revalidate, .cacheElseNetwork, .cacheOnly, .bypass, .networkElseCache: .revalidate
      }
    var new = try await respond(content?.makeBody(), asking)
    guard case .forwarded(_, let status, _, _) = new.outcome else {
      // Another response may have been stored after the first answer, and the origin confirmed that one.
      if Self.areSame(new.record, first.record) { return (new, false) }
      let isEqual = try await SmallBodies.areEqual(first, &new)
      return (new, !isEqual)
    }
    if (500...599).contains(status) || policy.countsAsFailure(status) {
      new.body.source.cancel()
      throw OriginStatusError(status: status)
    }
    guard first.head.status == new.head.status else { return (new, true) }
    let isComparedWithFirst = Self.areSame(new.comparedRecord, first.record)
    if isComparedWithFirst, new.contentChange == .unchanged {
      // Read it to its end nevertheless, so that its fields are stored.
      cache.engine.background.begin { [body = new.body] in
        do { while try await body.source.next() != nil {} } catch {
          // The end of the transfer tells the observer.
        }
      }
      return (new, false)
    }
    if isComparedWithFirst, new.contentChange == .changed { return (new, true) }
    let isEqual = try await SmallBodies.areEqual(first, &new)
    return (new, !isEqual)
  }
}
