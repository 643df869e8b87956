import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The store as the engine changes it. Each removal and invalidation is made here, so that running transfers and waiting
/// requests learn of it, and a change that the store failed to make is remembered.
final class Shelf: Sendable {
  let configuration: HTTPCache.Configuration
  let observers: Observers
  let running: RunningTransfers
  let failedChanges: FailedChanges
  /// The keys whose incomplete responses could not be completed recently. The next request asks for the whole response, so
  /// that an origin that answers ranges wrongly cannot make a target undeliverable.
  let failedCompletions: BoundedSet<CacheKey>
  let refusalLimit: RefusalLimit
  /// The part of the cache in a fleet; nil if it is alone.
  let fleet: Fleet?
  private let coalescing: Coalescing
  private let opened: OpenStore
  /// The store without seeds and without the tier of a fleet.
  let ownStore: any CacheStore

  init(
    _ store: any CacheStore, configuration: HTTPCache.Configuration, observers: Observers,
    coalescing: Coalescing, fleet: Fleet?
  ) {
    self.configuration = configuration
    self.observers = observers
    self.coalescing = coalescing
    self.fleet = fleet
    ownStore = store
    let seeded = configuration.seeded(store)
    opened = fleet.map { OpenStore(SharedStore(base: seeded, fleet: $0), local: seeded) } ?? OpenStore(seeded)
    running = RunningTransfers()
    failedChanges = FailedChanges()
    failedCompletions = BoundedSet(limit: 1_024)
    refusalLimit = RefusalLimit()
  }

  /// Changes the same store for a cache with another configuration.
  init(sharing other: Shelf, configuration: HTTPCache.Configuration) {
    self.configuration = configuration
    observers = other.observers
    coalescing = other.coalescing
    opened = other.opened
    ownStore = other.ownStore
    fleet = other.fleet
    running = other.running
    failedChanges = other.failedChanges
    failedCompletions = other.failedCompletions
    refusalLimit = other.refusalLimit
  }

  var store: any CacheStore { opened.store }

  /// The store whose changes reach no other node.
  var localStore: any CacheStore { opened.local }

  /// The local store, if it tells of changes and is told of uses; nil if not.
  var memory: (any GenerationSource & UseCounter)? { opened.memory }

  var rules: CacheRules { configuration.rules }

  /// Leaves the fleet, and closes the store; does nothing if the store is closed already.
  ///
  /// - Parameter beforehand: called before the store is closed.
  func close(_ beforehand: () -> Void) async {
    // While the store is open: changes of other nodes that were read are applied.
    await fleet?.leave()
    await opened.close(beforehand)
  }

  // MARK: Storing

  /// Registers a transfer before it starts. If the partition was wiped after the request was sent, no byte of the
  /// response is stored: the store would only refuse it at its end.
  ///
  /// - Parameters:
  ///   - key: the key of the request.
  ///   - storageKey: the key under which the response is stored.
  ///   - ticket: the ticket of that request.
  func register(
    _ transfer: Transfer, for key: CacheKey, storedAs storageKey: CacheKey, ticket: InvalidationTicket?
  ) async {
    running.add(transfer, for: key)
    if storageKey != key { running.add(transfer, for: storageKey) }
    if let ticket, store.isWiped(key, since: ticket) { await transfer.stopStoring() }
  }

  /// Writes a stored response with newer fields, or removes it if the hooks refuse it.
  ///
  /// - Parameters:
  ///   - key: the key of the request that validated it.
  ///   - ticket: the ticket of that request.
  func freshen(
    _ record: CacheRecord, as decision: StoringDecision, for key: CacheKey, ticket: InvalidationTicket?
  ) async {
    switch decision {
    case .store(let terms):
      do throws(CacheError) {
        if try await store.update(terms.applied(to: record).with(ticket: ticket)) {
          observers.tell(.freshened(key))
        }
      } catch {
        observers.tell(.storeFailed(operation: "freshen", error))
      }
    case .refuse(let refusal):
      await discard(record)
      observers.tell(.removed(key, .refused(refusal)))
    }
  }

  /// Writes a stored response that was only invalidated.
  func update(invalidated record: CacheRecord) async {
    do throws(CacheError) {
      if try await store.update(record) { observers.tell(.invalidated(target: record.key.target)) }
    } catch {
      failed(to: "freshen", .variant(record.key, sequence: record.sequence), removes: false, error)
    }
  }

  /// A response was stored: removes the responses that it replaces.
  ///
  /// - Parameters:
  ///   - range: the announced octets of a part; nil for a whole body. If the whole message of the part has other octets,
  ///     only a request for the same range gets them.
  ///   - length: the `Content-Length` of the message in bytes; nil if unknown. A part with fewer octets broke
  ///     off, and must not pass for the range that was requested (RFC 9111 §3.3).
  func committed(
    _ record: CacheRecord, askedFor range: Range<Int64>?, length: Int64?, of request: HTTPRequest,
    outdated: [CacheRecord]
  ) async {
    do throws(CacheError) {
      if let range, let length, let stored = record.storedRanges, stored != [range],
        stored.map({ Int64($0.count) }) == [length]
      {
        var response = record.response
        response.requestedRange = request.headerFields[.range]
        try await store.update(record.with(response: response))
      }
    } catch {
      observers.tell(.storeFailed(operation: "replace", error))
    }
    // A part never replaces a complete response.
    for old in outdated where record.isComplete || !old.isComplete {
      await discard(old, operation: "replace")
    }
  }

  /// Stores a response without a body, which names another one, unless a more recent request stored one, or the
  /// partition was wiped.
  func write(pointer record: CacheRecord) async throws(CacheError) {
    let writer = try await store.write(record, variantLimit: 1)
    do throws(CacheError) { try await writer.commit(trailers: [:]) } catch {
      guard [.superseded, .wiped].contains(error.code) else { throw error }
    }
  }

  // MARK: Wiping

  /// - Parameter store: the store that is wiped.
  /// - Returns: the number of responses removed.
  /// - Throws: what the store throws.
  func wipe(mode: CacheMode, partition: String, in store: any CacheStore) async throws(CacheError) -> Int {
    coalescing.forget { $0.mode == mode && $0.partition == partition }
    let removed: Result<Int, CacheError>
    do throws(CacheError) {
      removed = .success(try await store.wipe(mode: mode, partition: partition))
    } catch {
      removed = .failure(error)
    }
    // Afterwards: a transfer that is registered from now on finds the wipe noted in the store. A flush deletes files.
    if await running.stopStoring(mode: mode, partition: partition) { await store.flush() }
    switch removed {
    case .success(let count): observers.tell(.wiped(partition: partition, count: count))
    case .failure(let error): observers.tell(.storeFailed(operation: "wipe", error))
    }
    return try removed.get()
  }

  /// Ends the flights of requests whose target may be another name of a changed one: their leader does not know of the
  /// change.
  func forgetFlights(ofPath target: String) {
    let path = SearchVariance.path(of: target)
    coalescing.forget { SearchVariance.path(of: $0.target) == path }
  }
}

extension Shelf {
  /// Asks the hooks about a response that is about to be stored.
  ///
  /// - Parameters:
  ///   - proposed: what is stored without a hook.
  ///   - record: the stored record that is about to be freshened; nil for a new response.
  ///   - question: nil without a hook.
  func decision(
    on proposed: StoringTerms, over record: CacheRecord? = nil, asking question: HookQuestion?
  ) async -> StoringDecision {
    guard let question else { return .store(proposed) }
    var terms = proposed
    let (hook, response) = (question.hook, proposed.response)
    let userInfo = UserInfoParts(terms.userInfo)
    let proposal = ProposedRecord(
      key: question.key, head: response.head, userInfo: userInfo.shown,
      storagePolicy: terms.isMemoryOnly ? .allowedInMemoryOnly : .allowed,
      isPinned: terms.isPinned, isFreshening: record != nil)
    let answer: ProposedRecord?
    do throws(HookFailure) {
      answer = try await hook.ask(question.request, about: proposal, turn: question.turn)
    } catch {
      observers.tell(.hookFailed(target: question.target, error))
      if case .timedOut = error { return .refuse(.hookTimedOut) }
      return .refuse(.hookFailed)
    }
    guard let answer, answer.storagePolicy != .notAllowed else { return .refuse(.hook) }
    if answer.storagePolicy == .allowedInMemoryOnly {
      // An entry on disk cannot move to memory, so it is removed. Without a store on disk nothing changes.
      if let record, !record.isMemoryOnly {
        if !store.isInMemoryOnly { return .refuse(.memoryOnly) }
      } else {
        terms.isMemoryOnly = true
      }
    }
    terms.userInfo = userInfo.changed(to: answer.userInfo).bytes
    terms.isPinned = answer.isPinned
    terms.strippedNames = hook.strippedNames
    guard answer.head.headerFields != response.head.headerFields else { return .store(terms) }
    terms.response = response.changed(by: answer.head, rules: question.rules)
    if let refusal = refusal(of: terms.response, insteadOf: response, question) {
      return .refuse(refusal)
    }
    for field in response.head.headerFields
    where !terms.response.head.headerFields.contains(field.name) {
      terms.strippedNames.insert(field.name)
    }
    return .store(terms)
  }

  /// Why a response with the head that the hook changed may not be stored, although the original may.
  private func refusal(
    of changed: StoredResponse, insteadOf original: StoredResponse, _ question: HookQuestion
  ) -> StorageRefusal? {
    let decide = { (stored: StoredResponse) in
      Storability.decide(
        request: question.request.unranged, response: stored.head, rules: question.rules,
        now: stored.responseTime)
    }
    guard case .doNotStore(let refusal) = decide(changed), case .store = decide(original) else {
      return nil
    }
    return refusal
  }
}
