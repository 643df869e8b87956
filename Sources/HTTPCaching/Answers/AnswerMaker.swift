import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Makes answers from stored responses: the client's condition may turn one into a 304, its range into a 206
/// (RFC 9110 §13, §14); and adds the cache's own fields to every answer.
final class AnswerMaker: Sendable {
  let configuration: HTTPCache.Configuration
  let lookup: Lookup
  let shelf: Shelf
  let observers: Observers

  init(lookup: Lookup) {
    self.lookup = lookup
    shelf = lookup.shelf
    configuration = lookup.configuration
    observers = lookup.shelf.observers
  }

  /// The answer from the store; nil if its body cannot be opened.
  ///
  /// - Parameter event: when the observer is told.
  func answer(
    _ answer: Exchange.StoredAnswer, from variant: StoredVariant, to asked: AskedRequest,
    event: AnswerEvent = .atOnce
  ) -> CacheResponse? {
    self.answer(
      answer.stored, head: answer.head, outcome: answer.outcome, from: variant, to: asked, event: event)
  }

  /// Like `answer`, but first reads the beginning of the body; nil if that read fails.
  func readableAnswer(
    _ answer: Exchange.StoredAnswer, from variant: StoredVariant, to asked: AskedRequest
  ) async -> CacheResponse? {
    guard var response = self.answer(answer, from: variant, to: asked, event: .onceReadable) else {
      return nil
    }
    // The head may be newer than the record's.
    response.headOwner = nil
    // The read itself tells the observer why it failed.
    do throws(CacheError) {
      switch response.body.source {
      case let source as StoredBodySource: try await source.readBeginning()
      case let source as MultipartRangesSource: try await source.readBeginning()
      default: break
      }
    } catch { return nil }
    observers.tell(.answered(target: asked.target, response.outcome))
    return response
  }

  /// The answer from the store; nil if its body cannot be opened.
  ///
  /// - Parameters:
  ///   - stored: the response to send; it may be newer than the record of `variant`, which has the body.
  ///   - whole: the head of the complete response, with its age.
  ///   - event: when the observer is told.
  func answer(
    _ stored: StoredResponse, head whole: @autoclosure () -> HTTPResponse, outcome: CacheOutcome,
    from variant: StoredVariant, to asked: AskedRequest, event: AnswerEvent = .atOnce
  ) -> CacheResponse? {
    let reader: any BodyReader
    do throws(CacheError) {
      reader = try variant.body.open()
    } catch {
      observers.tell(.storeFailed(operation: "open body", error))
      return nil
    }
    let length = reader.length ?? variant.record.bodyLength
    guard
      let plan = StoredAnswerPlan(
        request: asked.request, features: asked.features, stored: stored, head: whole(), length: length,
        part: variant.record.part, now: asked.now)
    else { return nil }
    let isCounted = event != .never
    var counts = isCounted ? CacheCounts(of: outcome) : CacheCounts()
    let body: MessageBody
    var head: HTTPResponse
    func content(_ range: Range<Int64>, trailers: HTTPFields) -> MessageBody {
      if isCounted { counts.hitBytes = range.upperBound - range.lowerBound }
      return MessageBody(
        StoredBodySource(
          reader: reader, range: range, trailers: trailers, counts: counts, onDamage: readFailed))
    }
    switch plan {
    case .head(let planned):
      head = planned
      body = .empty
    case .whole(let planned, let length):
      head = planned
      body = content(0..<length, trailers: stored.trailers)
    case .range(let planned, let range):
      head = planned
      // The trailers describe the whole content, not a part of it (RFC 9530 §2).
      body = content(range, trailers: [:])
    case .parts(let whole, let ranges):
      let parts = MultipartRanges(
        ranges, total: length, contentType: whole.headerFields[.contentType])
      head = parts.head(of: whole)
      if isCounted { counts.hitBytes = parts.length }
      body = MessageBody(
        MultipartRangesSource(reader: reader, parts: parts, counts: counts, onDamage: readFailed))
    }
    if isCounted { shelf.store.count(counts) }
    addOwnFields(to: &head, outcome, key: asked.key, isSeed: variant.record.isSeed)
    if case .atOnce = event { observers.tell(.answered(target: asked.target, outcome)) }
    var response = CacheResponse(
      head: head, body: body, outcome: outcome, finalTarget: asked.target, contentChange: .unchanged,
      userInfo: variant.record.userInfo.isEmpty ? [] : UserInfoParts(variant.record.userInfo).shown,
      storedAt: stored.responseTime)
    response.record = variant.record
    if case .whole = plan { response.headOwner = variant.record }
    return response
  }

  /// Reports that the body of an answer cannot be read.
  private var readFailed: @Sendable (CacheError, CacheCounts) -> Void {
    // Captures only this object, so that a hit allocates nothing for it.
    { [self] error, counts in
      observers.tell(.storeFailed(operation: "read body", error))
      takeBack(counts)
    }
  }

  /// Undoes the counts of an answer whose body could not be read: the repeated request is counted instead.
  func takeBack(_ counts: CacheCounts) {
    shelf.store.count(
      CacheCounts(
        hits: -counts.hits, validated: -counts.validated, hitBytes: -counts.hitBytes,
        sharedHits: -counts.sharedHits))
  }

  // MARK: The cache's own fields

  /// Adds `Date`, if it is missing, and the configured `Cache-Status` (RFC 9211).
  ///
  /// - Parameter stored: the response that is being stored; its lifetime is told.
  func addOwnFields(
    to head: inout HTTPResponse, _ outcome: CacheOutcome, key: CacheKey, stored: StoredResponse? = nil,
    isSeed: Bool = false
  ) {
    if !head.headerFields.contains(.date) {
      // RFC 9110 §6.6.1: a cache that forwards a response without Date adds the time it was received.
      head.headerFields[.date] = configuration.clock.now.httpDate
    }
    // A response that the cache generated has no such field (RFC 9211 §2).
    guard let name = configuration.cacheStatusName else { return }
    if case .unsatisfiable = outcome { return }
    if case .shared(_, let age, let lifetime) = outcome {
      // The tier is a cache of its own on the way (RFC 9211 §2).
      CacheStatus.appended(
        CacheStatus(
          outcome: .hit(age: age, lifetime: lifetime, allowance: nil),
          name: configuration.fleet.cacheStatusName), to: &head.headerFields)
    }
    var status = CacheStatus(outcome: outcome, name: name)
    if let stored {
      let age = Age.current(stored, now: configuration.clock.now)
      status.ttl = stored.freshnessLifetime(atAge: age).saturatingSubtract(age)
    }
    if isSeed { status.detail = status.detail.map { "\($0), seed" } ?? "seed" }
    if configuration.cacheStatusShowsKey { status.key = CacheStatus.key(key) }
    CacheStatus.appended(status, to: &head.headerFields)
  }
}

extension CacheCounts {
  /// One answer from the store.
  fileprivate init(of outcome: CacheOutcome) {
    self.init()
    switch outcome {
    case .validated: validated = 1
    case .shared: sharedHits = 1
    case .hit, .forwarded, .unsatisfiable: hits = 1
    }
  }
}

/// When the observer is told of an answer from the store.
enum AnswerEvent {
  case atOnce
  /// Once `readableAnswer` has read the beginning of the body: if that read fails, the answer does not count.
  case onceReadable
  /// Never, and the answer is not counted: no request asked for it.
  case never
}
