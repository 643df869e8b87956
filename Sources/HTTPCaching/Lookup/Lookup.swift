import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The only reader of the store for requests: finds what is stored for a key under each of its names, as it would be
/// if no change had failed.
final class Lookup: Sendable {
  let configuration: HTTPCache.Configuration
  let shelf: Shelf
  let digest: SecretDigest
  private let names: StoredNames

  init(shelf: Shelf, names: StoredNames) {
    self.shelf = shelf
    self.names = names
    configuration = shelf.configuration
    digest = SecretDigester.make(key: shelf.store.secret)
  }

  // MARK: In the whole store

  /// The stored variants for a key, most recent first.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  func stored(for key: CacheKey, rules: CacheRules) throws(CacheError) -> [StoredVariant] {
    var found = try shelf.store.read(key)
    if !found.allSatisfy({ $0.record.response.isKeyed(by: rules) }) {
      found = found.filter { $0.record.response.isKeyed(by: rules) }
    }
    if let other = try names.other(of: key, rules: rules) {
      found = Self.latestFirst(found, try shelf.store.read(other.key).filter { other.holds($0.record) })
    }
    return shelf.failedChanges.applied(to: found)
  }

  /// The variants that are stored under a key itself, not under its other names.
  func stored(under key: CacheKey) throws(CacheError) -> [StoredVariant] {
    shelf.failedChanges.applied(to: try shelf.store.read(key))
  }

  /// Whether what this node has may be used: see `FleetLog.mayUseEntries`.
  var mayUseEntries: Bool {
    guard let fleet = shelf.fleet, fleet.options.stalenessBound != nil else { return true }
    return fleet.log.mayUseEntries(uptime: fleet.clock.uptime)
  }

  private static func latestFirst(
    _ exact: [StoredVariant], _ others: [StoredVariant]
  ) -> [StoredVariant] {
    if others.isEmpty || exact.isEmpty { return exact + others }
    return (exact + others).enumerated().sorted { first, second in
      let (time, other) = (
        first.element.record.response.responseTime, second.element.record.response.responseTime
      )
      return time == other ? first.offset < second.offset : time > other
    }.map(\.element)
  }

  /// The stored variants that a request may use; nil, after telling the observer, if the store cannot be read.
  func variants(for exchange: Exchange) -> [StoredVariant]? {
    let (key, rules) = (exchange.key, exchange.rules)
    guard mayUseEntries else { return [] }
    do throws(CacheError) {
      let stored = try stored(for: key, rules: rules)
      if stored.isEmpty {
        names.forgetPointer(of: key, rules: rules) { [self] in
          (try? self.stored(for: key, rules: rules))?.isEmpty != true
        }
      }
      return stored.filter { variant in
        let response = variant.record.response
        return response.isIn(exchange.bodyForms) && response.seen(by: rules) != nil
      }
    } catch {
      shelf.observers.tell(.storeFailed(operation: "read", error))
      return nil
    }
  }

  /// The next action for a request, given its stored variants.
  func look(
    among variants: [StoredVariant], for exchange: inout Exchange, now: Timestamp
  ) -> Exchange.LookAction {
    let parts = variants.parts
    if !parts.isEmpty { exchange.mayComplete = !shelf.failedCompletions.contains(exchange.key) }
    let rules = exchange.rules
    let responses = variants.map { variant in
      let response = variant.record.response
      return response.seen(by: rules) ?? response
    }
    let action = exchange.found(responses, parts: parts, now: now)
    exchange.comparedRecord = (exchange.matched ?? exchange.matching.first).map { variants[$0].record }
    return action
  }

  /// The keys under which something is stored for a key.
  func names(of key: CacheKey, rules: CacheRules) -> Set<CacheKey> {
    var found: Set<CacheKey> = []
    do throws(CacheError) {
      found = Set(try stored(for: key, rules: rules).map(\.record.key))
      if try !shelf.store.read(key).isEmpty { found.insert(key) }
    } catch {
      shelf.observers.tell(.storeFailed(operation: "read", error))
    }
    return found
  }

  /// The variant that `Vary` selects.
  private func selected(
    among variants: [StoredVariant], for request: HTTPRequest, rules: CacheRules
  ) -> StoredVariant? {
    // A single variant only has to match.
    if variants.count == 1 {
      let variant = variants[0]
      let record = variant.record
      let isMatch = Vary.matches(
        record.response.nominated, of: record.response, request: request, rules: rules, digest: digest)
      return isMatch ? variant : nil
    }
    guard
      case .selected(let index) = Vary.select(
        among: variants.map(\.record.response), for: request, rules: rules, digest: digest)
    else { return nil }
    return variants[index]
  }

  // MARK: In memory

  /// The variants in memory for a key; nil if the store below may have more of them.
  func inMemory(_ key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
    guard mayUseEntries else { return nil }
    let found: [StoredVariant]
    if !rules.isPlain, rules.alias != nil {
      guard let item = names.itemInMemory(of: key, rules: rules) else { return nil }
      found = item
    } else {
      // Not through the store of a fleet, which has no more in memory: a hit costs the same with a tier.
      guard let stored = shelf.localStore.peek(key), !stored.isEmpty,
        stored.allSatisfy({
          $0.record.response.keyFingerprint == 0 || $0.record.response.isKeyed(by: rules)
        })
      else { return nil }
      found = stored
    }
    return shelf.failedChanges.concern(found) ? nil : found
  }

  /// The response in memory that may answer a request without asking the origin, before the request's conditions and
  /// ranges are looked at; nil if the caller has to look in the whole store.
  func inMemory(
    _ request: HTTPRequest, at place: Place, bodyForms: BodyForms, toUseAgain: Bool = false
  ) -> FoundInMemory? {
    let (key, rules) = (place.key, place.rules)
    // Only the whole store tells the latest of several equivalent targets.
    guard !rules.obeysNoVarySearch, request.method == .get || request.method == .head else { return nil }
    // Before the look-up, so that no change after it is missed.
    let generation = toUseAgain ? shelf.memory?.generation(of: key) : nil
    guard let stored = inMemory(key, rules: rules) else { return nil }
    let features = RequestFeatures(request.headerFields)
    guard Reuse.methodMiss(request, features: features) == nil,
      !features.contains(.host) || !request.namesOtherHost,
      let variant = selected(among: Self.usable(stored, bodyForms), for: request, rules: rules)
    else { return nil }
    let now = configuration.clock.now
    var response = variant.record.response
    if !rules.isPlain || response.facts.overrides != 0 {
      guard let seen = response.seen(by: rules) else { return nil }
      response = seen
    }
    let decision = Reuse.decide(
      stored: response, request: request,
      directives: rules.isPlain
        ? RequestDirectives(request.headerFields, features: features)
        : RequestDirectives(of: request, features: features, rules: rules),
      policy: .standard, rules: rules, now: now)
    guard let outcome = Self.hit(decision) else { return nil }
    return FoundInMemory(
      asked: AskedRequest(request: request, features: features, key: key, target: place.target, now: now),
      stored: stored, variant: variant, response: response, outcome: outcome, generation: generation)
  }

  private static func hit(_ decision: ReuseDecision) -> CacheOutcome? {
    switch decision {
    case .fresh(let age, let lifetime): .hit(age: age, lifetime: lifetime, allowance: nil)
    case .stale(let allowance, let age, let lifetime) where allowance != .window(.staleWhileRevalidate):
      .hit(age: age, lifetime: lifetime, allowance: allowance)
    case .stale, .validate, .miss, .unsatisfiable: nil
    }
  }

  /// The variants that are complete and in a form that the request accepts.
  private static func usable(_ variants: [StoredVariant], _ forms: BodyForms) -> [StoredVariant] {
    let isUsable = { (variant: StoredVariant) in
      variant.record.isComplete && variant.record.response.isIn(forms)
    }
    return variants.allSatisfy(isUsable) ? variants : variants.filter(isUsable)
  }
}

/// From a request to its key.
extension Lookup {
  /// The key for a request.
  ///
  /// - Throws: `CacheError` with `invalidRequest` for a request without an absolute http or https URI.
  func place(
    of request: HTTPRequest, in partition: String, separatesCredentials: Bool = false
  ) throws(CacheError) -> Place {
    guard let target = CacheKey.target(of: request) else {
      throw CacheError(
        .invalidRequest,
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
    }
    var rules = configuration.rules.resolved(for: request, target: target)
    if separatesCredentials { rules.separatesCredentials = true }
    let key = CacheKey(request: request, target: target, rules: rules, partition: partition)
    return Place(key: key, target: target, rules: rules)
  }

  /// Where responses to a request are stored; nil for a request that has no key, and for one whose `Host` is not that
  /// of its URI.
  func storedPlace(of request: HTTPRequest, in partition: String) -> Place? {
    request.namesOtherHost ? nil : try? place(of: request, in: partition)
  }

  /// The key for a request with these options.
  ///
  /// - Throws: `CacheError` with `invalidRequest` for a request without an absolute http or https URI.
  func place(of request: HTTPRequest, options: RequestOptions) throws(CacheError) -> Place {
    try place(
      of: request, in: options.partition, separatesCredentials: options.separatesCredentials)
  }

  /// Makes the exchange for a request; throws as `place(of:options:)`.
  ///
  /// - Parameter content: the content of a QUERY.
  func exchange(
    for request: HTTPRequest, content: QueryContent? = nil, policy: CachePolicy, options: RequestOptions
  ) throws(CacheError) -> Exchange {
    exchange(
      for: request, at: try place(of: request, options: options), hasBody: false, content: content,
      policy: policy, options: options)
  }

  /// Makes the exchange for a request. One whose `Host` is not that of its URI bypasses the store.
  func exchange(
    for request: HTTPRequest, at place: Place, hasBody: Bool, content: QueryContent?, policy: CachePolicy,
    options: RequestOptions
  ) -> Exchange {
    var (key, rules) = (place.key, place.rules)
    // The key keeps the mode of the cache, by which its entries are listed and wiped.
    if options.isPrivate(under: rules) { rules.mode = .private }
    if let digest = content?.digest { key = key.with(contentDigest: digest) }
    var (policy, hasBody) = (policy, hasBody || content?.hasBody == true)
    if request.namesOtherHost {
      // No stored response answers a request with content: `cacheOnly` then asks no origin either.
      if policy == .cacheOnly { hasBody = true } else { policy = .bypass }
    }
    var exchange = Exchange(
      PresentedRequest(
        request, key: key, target: place.target, policy: policy, rules: rules, hasBody: hasBody,
        bodyForms: options.bodyForms, digest: digest, content: content))
    exchange.validatesInBackground = options.validatesInBackground
    return exchange
  }

  /// The key for a request.
  struct Place {
    let key: CacheKey
    /// The normalised target URI.
    let target: String
    /// The rules, resolved for the request.
    let rules: CacheRules
  }
}

/// A request that is answered from the store.
struct AskedRequest {
  let request: HTTPRequest
  let features: RequestFeatures
  let key: CacheKey
  let target: String
  let now: Timestamp
}

extension Exchange {
  func asked(at now: Timestamp) -> AskedRequest {
    AskedRequest(request: request, features: features, key: key, target: target, now: now)
  }
}
