import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// A response whose body is on its way into the store: what its body must match, what of it may be stored, and what
/// follows from its commit and its end.
struct IncomingEntry: Sendable {
  private let engine: Engine
  private let presented: PresentedRequest
  private let flight: FlightHold?
  private let head: HTTPResponse
  private let terms: StoringTerms
  /// The ticket of the request.
  private let ticket: InvalidationTicket?
  /// The key under which it is stored.
  private let key: CacheKey
  /// Whether the body comes from the tier of a fleet.
  private let isShared: Bool
  /// Whether a hook may have forbidden to keep anything of the response on disk, besides the response.
  var isConfidential = false
  /// The digests that the bytes of the body must match to be stored.
  var verifier: DigestVerifier?
  /// The digests that these bytes and the stored ones must match together.
  var combined: CombinedDigest?
  /// The stored part that the body continues.
  var continued: CacheRecord?
  /// Whether the request asked for what is missing in that part.
  var isCompletion = false
  /// The octets that a part announces.
  var range: Range<Int64>?
  /// The `Content-Length` of a part in bytes; nil if unknown.
  var length: Int64?
  /// The octets that an earlier transfer left of the same representation: they stay unless more arrive.
  var storedPrefix: Int64 = 0
  /// The responses that it replaces.
  var outdated: [CacheRecord] = []
  /// The responses that it supersedes even if the store does not take it, as invalidated.
  var superseded: [CacheRecord] = []

  /// - Parameters:
  ///   - head: the head as it arrived.
  ///   - key: the key under which it is stored.
  init(
    _ terms: StoringTerms, head: HTTPResponse, to conversation: Conversation, storedAs key: CacheKey,
    in engine: Engine
  ) {
    self.engine = engine
    self.head = head
    self.terms = terms
    self.key = key
    ticket = conversation.ticket
    presented = conversation.exchange.presented
    flight = conversation.flight
    isShared = conversation.tierAge != nil
  }

  /// Why it is not stored any more if its partition was wiped.
  var wiped: CacheError { .wiped(key) }

  /// The trailer fields that may be stored.
  func storable(trailers: HTTPFields) -> HTTPFields {
    FieldHygiene.storable(trailers: trailers, of: head, rules: presented.rules).without(terms.strippedNames)
  }

  func committed(_ record: CacheRecord) async {
    await engine.shelf.committed(
      record, askedFor: range, length: length, of: presented.request, outdated: outdated)
    await engine.names.restorePointer(
      to: key, from: presented.key, alias: presented.rules.alias, terms, ticket: ticket)
  }

  /// The stored part and the body do not belong together.
  func discardContinued() async {
    if let continued { await engine.shelf.discard(continued) }
  }

  /// The store did not take the whole response: invalidates what it supersedes (RFC 9111 §4.3.3).
  func notTaken(_ error: CacheError) async {
    // If another partition of its class was wiped, there may be something to supersede.
    guard [.tooLarge, .notAdmitted, .wiped].contains(error.code) else { return }
    for record in superseded { await engine.shelf.update(invalidated: record) }
  }

  /// Tells and counts the end of the transfer.
  ///
  /// - Parameter received: bytes of the body.
  func ended(_ transfer: Transfer, _ end: Transfer.End, received: Int64) {
    let (shelf, observers, requestKey) = (engine.shelf, engine.observers, presented.key)
    shelf.running.remove(transfer, for: requestKey.target)
    if key != requestKey { shelf.running.remove(transfer, for: key.target) }
    var counts = CacheCounts.received(received, isShared: isShared)
    switch end {
    case .stored(let record):
      shelf.failedCompletions.remove(requestKey)
      counts.stores = 1
      observers.tell(.stored(requestKey, bytes: Self.length(of: record) ?? received))
    case .notStored(let error):
      refused(shelf.refusal(of: error, isMemoryOnly: terms.isMemoryOnly))
    case .kept(let record):
      observers.tell(.kept(requestKey, bytes: Self.length(of: record) ?? received))
    case .refused(let refusal): refused(refusal)
    case .failed:
      if isCompletion { shelf.failedCompletions.insert(requestKey) }
      refused(.incomplete)
    case .leftAlone: refused(.incomplete)
    }
    shelf.store.count(counts)
    flight?.lookAgain()
  }

  /// The number of bytes that a record has, with those of earlier transfers.
  private static func length(of record: CacheRecord) -> Int64? {
    record.storedRanges?.reduce(0) { $0 + Int64($1.count) } ?? record.bodyLength
  }

  private func refused(_ refusal: StorageRefusal) {
    engine.shelf.notStored(
      refusal, head, to: presented.request, key: presented.key,
      rules: isConfidential ? nil : presented.rules, ticket: ticket)
  }
}
