import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension HTTPCache {
  /// Tells and counts the end of a transfer.
  func transferEnded(
    _ end: Transfer.End, of response: HTTPResponse, to request: HTTPRequest, key: CacheKey,
    received: Int64, isConfidential: Bool
  ) {
    var counts = CacheCounts(originBytes: received)
    switch end {
    case .stored:
      counts.stores = 1
      observe(.stored(key, bytes: received))
    case .notStored(let error):
      if ![.tooLarge, .notAdmitted, .superseded].contains(error.code) {
        observe(.storeFailed(operation: "store", error))
      }
      notStored(
        refusal(of: error), response, to: request, key: key, isConfidential: isConfidential)
    case .kept(let record):
      observe(.kept(key, bytes: record.storedRanges?.reduce(0) { $0 + Int64($1.count) } ?? received))
    case .refused(let refusal):
      notStored(refusal, response, to: request, key: key, isConfidential: isConfidential)
    case .wiped: break
    case .failed, .leftAlone:
      notStored(.incomplete, response, to: request, key: key, isConfidential: isConfidential)
    }
    store.count(counts)
  }

  /// The actions at the end of the transfer of a response.
  func transferEnd(
    of response: HTTPResponse, _ conversation: Conversation, storedAs storageKey: CacheKey,
    isCompletion: Bool = false, isConfidential: Bool
  ) -> @Sendable (Transfer, Transfer.End, Int64) -> Void {
    let (request, key) = (conversation.exchange.request, conversation.exchange.key)
    return { [self, flight = conversation.flight] transfer, end, received in
      running.remove(transfer, for: key.target)
      if storageKey != key { running.remove(transfer, for: storageKey.target) }
      switch end {
      case .stored: failedCompletions.remove(key)
      case .failed: if isCompletion { failedCompletions.insert(key) }
      case .notStored, .kept, .refused, .leftAlone, .wiped: break
      }
      transferEnded(
        end, of: response, to: request, key: key, received: received, isConfidential: isConfidential)
      flight?.lookAgain()
    }
  }

  /// A response was stored: removes the responses that it replaces.
  ///
  /// - Parameters:
  ///   - range: the announced octets of a part. If its whole message has other octets, only a request for the same
  ///     range gets them.
  ///   - length: the `Content-Length` of the message in bytes; nil if unknown. A part with fewer octets broke
  ///     off, and must not pass for the range that was requested (RFC 9111 §3.3).
  func committed(
    _ record: CacheRecord, askedFor range: Range<Int64>? = nil, length: Int64? = nil,
    of request: HTTPRequest, outdated: [CacheRecord] = []
  ) async {
    do throws(CacheError) {
      if let range, let length, let stored = record.storedRanges, stored != [range],
        stored.map({ Int64($0.count) }) == [length]
      {
        var response = record.response
        response.requestedRange = request.headerFields[.range]
        try await store.update(record.with(response: response))
      }
      // A part never replaces a complete response.
      for old in outdated where record.isComplete || !old.isComplete {
        try await store.remove(.variant(old.key, sequence: old.sequence))
      }
    } catch {
      observe(.storeFailed(operation: "replace", error))
    }
  }

  /// Removes a response from the store.
  func discard(_ record: CacheRecord) async {
    do throws(CacheError) {
      try await store.remove(.variant(record.key, sequence: record.sequence))
    } catch {
      changeFailed(
        .variant(record.key, sequence: record.sequence), removes: true, operation: "remove", error)
    }
  }

  /// Removes all responses to a key from the store: each variant in each form, under the key itself and under
  /// the other names of its target.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  /// - Returns: the keys that had a response.
  @discardableResult
  func removeAll(of key: CacheKey, rules: CacheRules) async -> [CacheKey] {
    var found: Set<CacheKey> = []
    do throws(CacheError) {
      found = Set(try stored(for: key, rules: rules).map(\.record.key))
      if try !store.read(key).isEmpty { found.insert(key) }
    } catch {
      observe(.storeFailed(operation: "read", error))
    }
    // Also for keys without a stored response: a transfer may be storing one.
    for other in found.union([key]) {
      do throws(CacheError) { try await store.remove(.key(other)) } catch {
        changeFailed(.key(other), removes: true, operation: "remove", error)
        found.remove(other)
      }
    }
    return Array(found)
  }

  func refusal(of error: CacheError) -> StorageRefusal {
    if error.code == .notAdmitted { return .notAdmitted }
    if error.code == .superseded { return .superseded }
    let usage = store.usage
    let capacity = max(usage.memoryCapacity, usage.diskCapacity)
    // If the directory could not be opened, the capacity is 0 and every response is too large.
    guard error.code == .tooLarge, capacity > 0 else { return .storeFailed }
    let largest = usage.diskCapacity > 0 ? configuration.largestEntry : configuration.largestEntry.inMemory
    return .tooLarge(limit: largest.bytes(of: capacity))
  }

  /// Invalidates what an unsafe request changed (RFC 9111 §4.4).
  func invalidate(_ targets: [InvalidationTarget]) async {
    let rules = configuration.rules
    for target in targets {
      if rules.obeysNoVarySearch {
        let path = SearchVariance.path(of: target.target)
        coalescing.forget { SearchVariance.path(of: $0.target) == path }
      }
      let selections: [CacheSelection]
      do throws(CacheError) {
        selections = try await self.selections(
          ofTarget: target.target, asksForOtherNames: rules.obeysNoVarySearch || rules.hasAliases)
      } catch {
        // The other names of the target are unknown: any target of its origin may be one.
        observe(.storeFailed(operation: "invalidate", error))
        selections = [.prefix((TargetURI.origin(of: target.target) ?? target.target) + "/")]
      }
      for selection in selections {
        var name = target.target
        if case .target(let other) = selection { name = other }
        await invalidate(selection, telling: name)
      }
    }
  }

  private func invalidate(_ selection: CacheSelection, telling target: String) async {
    do throws(CacheError) {
      _ = try await store.invalidate(selection)
      observe(.invalidated(target: target))
    } catch {
      changeFailed(selection, removes: false, operation: "invalidate", error)
    }
  }

  /// Invalidates groups of an origin that a response names (RFC 9875 §3).
  func invalidate(groups: [String], of target: String) async {
    guard !groups.isEmpty, let origin = TargetURI.origin(of: target) else { return }
    for name in groups {
      await invalidate(.group(origin: origin, name: name), telling: "\(origin) group \(name)")
    }
  }

  /// Removes the stored responses of the origin of a key in its partition (W3C Clear Site Data).
  func clearSite(of key: CacheKey) async {
    guard let origin = TargetURI.origin(of: key.target) else { return }
    let site = CacheSelection.site(origin: origin, mode: key.mode, partition: key.partition)
    do throws(CacheError) {
      try await store.remove(site)
      observe(.siteCleared(origin: origin, partition: key.partition))
    } catch {
      changeFailed(site, removes: true, operation: "clear", error)
    }
  }

  /// Validates a stale response after its use (RFC 5861 §3): one validation per key, in a bounded number.
  func validateInBackground(
    _ exchange: Exchange, options: RequestOptions, via upstream: any Upstream
  ) {
    if let reason = offlineReason {
      _ = notAsked(exchange.target, reason)
      return
    }
    var options = options
    options.onInterim = nil
    let exchangeInBackground = Exchange(
      PresentedRequest(
        exchange.request.unconditional(keepsRange: exchange.isPartSelected), key: exchange.key,
        target: exchange.target, policy: .revalidate, rules: exchange.rules,
        hasBody: exchange.content?.hasBody ?? false, bodyForms: exchange.bodyForms,
        digest: exchange.digest, content: exchange.content))
    let runner = ExchangeRunner(
      cache: self, options: options, upstream: options.backgroundUpstream ?? upstream, body: nil,
      isBackground: true)
    background.begin {
      do {
        try await runner.validate(exchangeInBackground)
      } catch {
        // The observer was told of the upstream's failure when it happened; the stored response is unchanged.
      }
    }
  }
}
