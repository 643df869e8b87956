import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Stores responses that did not come through this cache.
struct Adoption {
  let lookup: Lookup
  let shelf: Shelf

  private var configuration: HTTPCache.Configuration { shelf.configuration }

  /// As `HTTPCache.adopt(file:response:for:partition:)`.
  func store(
    file path: String, response: HTTPResponse, for request: HTTPRequest, partition: String
  ) async throws(CacheError) -> StorageRefusal? {
    guard let target = CacheKey.target(of: request) else {
      throw CacheError(.invalidRequest, "the request has no absolute http or https URL")
    }
    let adopted = try AdoptedResponse(response, file: path)
    if response.status.code == 206 { return .partialContent }
    if let text = response.headerFields[.contentLength], Int64(text) != adopted.length { return .incomplete }
    if case .doNotStore(let refusal) = Storability.decide(
      request: request, response: response,
      rules: configuration.rules.resolved(for: request, target: target), now: configuration.clock.now)
    {
      return refusal
    }
    return await store(
      adopted, to: request, partition: partition,
      asking: .concurrent(configuration.clock, executor: configuration.executor))
  }

  /// As `HTTPCache.adopt(_:to:partition:asking:)`.
  func store(
    _ adopted: AdoptedResponse, to request: HTTPRequest, partition: String, asking turn: HookTurn
  ) async -> StorageRefusal? {
    guard let place = lookup.storedPlace(of: request, in: partition) else {
      return request.namesOtherHost ? .policy : .method(request.method)
    }
    let (key, rules) = (place.key, place.rules)
    let response = adopted.head
    await shelf.retryFailedChanges()
    let ticket = shelf.store.ticket()
    let hook = configuration.willStore
    let refuse = { [shelf] (refusal: StorageRefusal) -> StorageRefusal in
      shelf.notStored(
        refusal, response, to: request, key: key,
        rules: adopted.isMemoryOnly || hook != nil ? nil : rules, ticket: ticket)
      return refusal
    }
    let stored: StoredResponse
    do throws(StorageRefusal) { stored = try make(adopted, to: request, rules: rules) } catch {
      return refuse(error)
    }
    var terms = StoringTerms(
      response: stored, userInfo: adopted.userInfo, isPinned: rules.pins(response),
      isMemoryOnly: adopted.isMemoryOnly)
    let question = hook.map {
      HookQuestion(hook: $0, request: request, key: key, target: place.target, rules: rules, turn: turn)
    }
    switch await shelf.decision(on: terms, asking: question) {
    case .store(let decided): terms = decided
    case .refuse(let refusal): return refuse(refusal)
    }
    let record = terms.record(for: key, head: response, length: adopted.length, ticket: ticket)
    do throws(CacheError) {
      let outdated = try outdated(by: terms.response, for: request, key: key, rules: rules)
      let writer = try await shelf.store.write(record, variantLimit: rules.variantLimit)
      if let algorithm = try await append(adopted, to: writer) {
        writer.abandon()
        return refuse(.digestMismatch(algorithm: algorithm.rawValue))
      }
      let committed = try await writer.commit(trailers: [:])
      await shelf.committed(committed, askedFor: nil, length: nil, of: request, outdated: outdated)
      shelf.store.count(CacheCounts(stores: 1))
      shelf.observers.tell(.stored(key, bytes: adopted.length))
      return nil
    } catch {
      return refuse(shelf.refusal(of: error, isMemoryOnly: terms.isMemoryOnly))
    }
  }

  /// The variants that requests such as this one would go on selecting, because they have another `Vary`
  /// (RFC 9111 §4.1).
  private func outdated(
    by stored: StoredResponse, for request: HTTPRequest, key: CacheKey, rules: CacheRules
  ) throws(CacheError) -> [CacheRecord] {
    try lookup.stored(for: key, rules: rules).map(\.record).filter { record in
      record.response.nominated != stored.nominated
        && Vary.matches(record.response, request: request, rules: rules, digest: lookup.digest)
    }
  }

  private func make(
    _ adopted: AdoptedResponse, to request: HTTPRequest, rules: CacheRules
  ) throws(StorageRefusal) -> StoredResponse {
    let response = adopted.head
    let now = configuration.clock.now
    var isDistrusted = false
    switch Storability.decide(request: request, response: response, rules: rules, now: now) {
    case .store: break
    case .doNotStore(let refusal):
      switch refusal {
      case .privateInShared, .authorized, .setCookie, .credentials, .clientError, .content, .partialContent,
        .malformed, .interim,
        .method, .statusNotStored, .redirectToItself, .override:
        throw refusal
      case .statusNotUnderstood, .responseNoStore, .noStoreDespiteOverride, .requestNoStore, .notCacheable,
        .neverReusable, .varyAny, .varySecret, .clearsSite, .insteadOfStored, .digestMismatch, .policy,
        .tooLarge,
        .notAdmitted,
        .superseded, .wiped, .upstream,
        .hook, .hookFailed, .hookTimedOut, .memoryOnly, .incomplete, .storeFailed:
        isDistrusted = true
      }
    }
    if let part = PartialContent.part(of: response), part.range.count != adopted.length {
      throw .incomplete
    }
    let made = try StoredResponse.make(
      request: request, response: ReceivedResponse(response, requestTime: now, responseTime: now),
      isDecoded: adopted.isDecoded, rules: rules, digest: lookup.digest)
    return isDistrusted ? made.marked(as: .invalidated) : made
  }

  /// Appends the bytes of an adopted response to a writer.
  ///
  /// - Returns: the algorithm of a digest that the bytes do not match; nil if there is none.
  private func append(
    _ adopted: AdoptedResponse, to writer: any BodyWriter
  ) async throws(CacheError) -> IntegrityDigest.Algorithm? {
    guard let file = adopted.file else {
      try await writer.append(adopted.body)
      return nil
    }
    var verifier = DigestVerifier(
      IntegrityDigest.list(of: .content, in: adopted.head.headerFields)
        + IntegrityDigest.list(of: .representation, in: adopted.head.headerFields))
    if let writer = writer as? any CloningBodyWriter,
      try await writer.appendClone(of: file.descriptor, length: adopted.length, see: { verifier?.update($0) })
    {
      return verifier?.mismatch()
    }
    var position: Int64 = 0
    // In pieces, so that the file is never in memory as a whole.
    while position < adopted.length {
      let bytes = try file.read(Int(min(256 << 10, adopted.length - position)), at: position)
      verifier?.update(bytes)
      try await writer.append(bytes)
      position += Int64(bytes.count)
    }
    return verifier?.mismatch()
  }
}
