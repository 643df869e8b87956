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
      found = Self.latestFirst(found, try shelf.store.read(other.key).filter(other.holds))
    }
    return shelf.failedChanges.applied(to: found)
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

  // MARK: With a limit

  /// How far a look-up reads.
  enum Reach {
    /// Memory alone: without waiting.
    case memory
    case wholeStore
  }

  /// The variants in memory for a key; nil if the disk tier may have more of them.
  func inMemory(_ key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
    let found: [StoredVariant]
    if !rules.isPlain, rules.alias != nil {
      guard let item = names.itemInMemory(of: key, rules: rules) else { return nil }
      found = item
    } else {
      guard case .found(let stored) = shelf.store.peek(key),
        stored.allSatisfy({
          $0.record.response.keyFingerprint == 0 || $0.record.response.isKeyed(by: rules)
        })
      else { return nil }
      found = stored
    }
    return shelf.failedChanges.concern(found) ? nil : found
  }

  /// The stored response that a request selects and its caller accepts, before conditions and ranges are looked at; nil
  /// if there is none within reach.
  ///
  /// - Parameters:
  ///   - partition: as in `RequestOptions.partition`.
  ///   - separatesCredentials: as in `RequestOptions.separatesCredentials`.
  ///   - reach: with `memory`, nil also means that the store below may have more.
  ///   - isUsable: whether a variant may be selected.
  ///   - accept: the outcome of an answer from the selected response, as the rules let it be seen; nil to refuse it.
  func find(
    _ request: HTTPRequest, partition: String, separatesCredentials: Bool = false, within reach: Reach,
    where isUsable: (StoredVariant, CacheRules) -> Bool,
    accepting accept: (StoredResponse, AskedRequest, CacheRules) -> CacheOutcome?
  ) -> FoundResponse? {
    guard request.method == .get || request.method == .head,
      let target = CacheKey.target(of: request)
    else { return nil }
    var rules =
      configuration.rules.isPlain
      ? configuration.rules : configuration.rules.resolved(for: request, target: target)
    if separatesCredentials { rules.separatesCredentials = true }
    let key = CacheKey(request: request, target: target, rules: rules, partition: partition)
    guard let stored = variants(for: key, rules: rules, within: reach) else { return nil }
    let features = RequestFeatures(request.headerFields)
    guard Reuse.methodMiss(request, features: features) == nil,
      !features.contains(.host) || !request.namesOtherHost,
      let variant = selected(
        among: stored.allSatisfy({ isUsable($0, rules) }) ? stored : stored.filter { isUsable($0, rules) },
        for: request, rules: rules)
    else { return nil }
    let asked = AskedRequest(
      request: request, features: features, key: key, target: target, now: configuration.clock.now)
    let response: StoredResponse
    if rules.isPlain, variant.record.response.facts.overrides == 0 {
      response = variant.record.response
    } else {
      guard let seen = variant.record.response.seen(by: rules) else { return nil }
      response = seen
    }
    guard let outcome = accept(response, asked, rules) else { return nil }
    return FoundResponse(
      asked: asked, stored: stored, variant: variant, response: response, outcome: outcome)
  }

  /// The stored variants for a key; nil if they cannot be read within reach.
  private func variants(for key: CacheKey, rules: CacheRules, within reach: Reach) -> [StoredVariant]? {
    switch reach {
    // Only the whole store tells the latest of several equivalent targets.
    case .memory: return rules.obeysNoVarySearch ? nil : inMemory(key, rules: rules)
    case .wholeStore:
      do throws(CacheError) { return try stored(for: key, rules: rules) } catch {
        shelf.observers.tell(.storeFailed(operation: "read", error))
        return nil
      }
    }
  }

  /// The complete response in memory that may answer a request without asking the origin.
  func inMemory(
    _ request: HTTPRequest, partition: String, bodyForms: BodyForms, separatesCredentials: Bool
  ) -> FoundResponse? {
    find(
      request, partition: partition, separatesCredentials: separatesCredentials, within: .memory,
      where: { variant, _ in variant.record.isComplete && variant.record.response.isIn(bodyForms) },
      accepting: { response, asked, rules in
        Self.hit(
          Reuse.decide(
            stored: response, request: asked.request,
            directives: rules.isPlain
              ? RequestDirectives(asked.request.headerFields, features: asked.features)
              : RequestDirectives(of: asked.request, features: asked.features, rules: rules),
            policy: .standard, rules: rules, now: asked.now))
      })
  }

  /// The variant that `Vary` selects.
  private func selected(
    among variants: [StoredVariant], for request: HTTPRequest, rules: CacheRules
  ) -> StoredVariant? {
    // A single variant only has to match.
    if variants.count == 1 {
      let isMatch = Vary.matches(variants[0].record.response, request: request, rules: rules, digest: digest)
      return isMatch ? variants[0] : nil
    }
    guard
      case .selected(let index) = Vary.select(
        among: variants.map(\.record.response), for: request, rules: rules, digest: digest)
    else { return nil }
    return variants[index]
  }

  private static func hit(_ decision: ReuseDecision) -> CacheOutcome? {
    switch decision {
    case .fresh(let age, let lifetime): .hit(age: age, lifetime: lifetime, allowance: nil)
    case .stale(let allowance, let age, let lifetime) where allowance != .window(.staleWhileRevalidate):
      .hit(age: age, lifetime: lifetime, allowance: allowance)
    case .stale, .validate, .miss, .unsatisfiable: nil
    }
  }
}

/// A stored response that a request selects and its caller accepts.
struct FoundResponse {
  let asked: AskedRequest
  /// All variants of the key.
  let stored: [StoredVariant]
  let variant: StoredVariant
  /// The response of `variant`, seen by the rules.
  let response: StoredResponse
  let outcome: CacheOutcome

  /// The head of the complete response, with its age.
  var head: HTTPResponse { variant.record.head(age: outcome.age?.wholeSeconds ?? 0) }
}
