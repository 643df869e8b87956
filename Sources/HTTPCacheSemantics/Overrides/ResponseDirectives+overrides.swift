package import HTTPTypes

extension ResponseDirectives {
  /// The directives of a response after applying the overrides of the rules.
  ///
  /// - Parameters:
  ///   - response: the head as it arrived or as it is stored.
  ///   - rules: the choices of the cache, resolved for the request (`CacheRules.resolved(for:)`).
  package init(of response: HTTPResponse, rules: CacheRules) {
    self.init(response.headerFields, rules: rules)
    guard let applied = rules.applied, applied.responseFingerprint != 0 else { return }
    let origin = self
    let unprotected = Self.unprotected(response, rules: rules)
    rules.forEachEffect(on: response) { effect in
      apply(effect, to: response, origin: origin, unprotected: unprotected)
    }
    guard rules.mode == .shared else { return }
    if unprotected.contains(.authorization) {
      flags.insert(.sharedByOverride)
    } else if flags.allowsSharingAuthorized, !origin.flags.allowsSharingAuthorized {
      flags.insert(.notSharedByOrigin)
    }
  }

  /// The protections that effects may ignore: all in a private cache, the allowed ones in a shared cache.
  static func unprotected(
    _ response: HTTPResponse, rules: CacheRules
  ) -> Set<RuleEffect.Protection> {
    if rules.mode == .private { return Set(RuleEffect.Protection.allCases) }
    var names: Set<RuleEffect.Protection> = []
    rules.forEachEffect(on: response) { if case .sharingDespite(let more) = $0 { names.formUnion(more) } }
    return names
  }

  /// Applies one effect.
  ///
  /// - Parameters:
  ///   - origin: the directives of the origin.
  ///   - unprotected: the protections of users from each other that may be ignored.
  mutating func apply(
    _ effect: RuleEffect, to response: HTTPResponse, origin: ResponseDirectives,
    unprotected: Set<RuleEffect.Protection>
  ) {
    switch effect {
    case .lifetime(let lifetime): lifetimes.append(lifetime)
    case .staleWhileRevalidate(let window):
      staleWhileRevalidate = min(max(0, window.wholeSeconds), greatestDeltaSeconds)
    case .staleIfError(let window):
      staleIfError = min(max(0, window.wholeSeconds), greatestDeltaSeconds)
    case .ignoring(let names): for name in names { ignore(name, unprotected) }
    case .adding(let names): for name in names { add(name) }
    case .cacheControl(let value, let whenAbsent):
      let fields = response.headerFields
      let isAbsent =
        origin.source == .cacheControl && !fields.contains(.cacheControl) && !fields.contains(.expires)
      if isAbsent || !whenAbsent { replace(with: value, unprotected) }
    // Effects on other properties of the rules, on the request and on the key.
    case .heuristics, .ignoringVary, .allowsStaleWhileRevalidate, .allowsStaleIfError,
      .allowsStaleWhenDisconnected, .sharingDespite, .stores, .pins, .ignoringRequestDirectives,
      .droppingQuery, .keepingQuery, .ignoringQuery, .sortingQuery, .lowercasingPath, .alias:
      break
    }
  }

  private mutating func ignore(
    _ name: RuleEffect.Ignored, _ unprotected: Set<RuleEffect.Protection>
  ) {
    switch name {
    case .noStore: if unprotected.contains(.noStore) { noStore = false }
    case .private:
      guard unprotected.contains(.private) else { return }
      self.private = .absent
      flags.remove(.private)
    case .noCache:
      // In a shared cache the named fields are not stored: they are one user's.
      if case .fields = noCache, !unprotected.contains(.private) { return }
      noCache = .absent
      flags.remove(.noCache)
    case .mustRevalidate: flags.remove(.mustRevalidate)
    case .proxyRevalidate: flags.remove(.proxyRevalidate)
    case .maxAge: maxAge = nil
    case .sMaxAge:
      sMaxAge = nil
      flags.remove(.sMaxAge)
    case .immutable: flags.remove(.immutable)
    case .staleWhileRevalidate: staleWhileRevalidate = nil
    case .staleIfError: staleIfError = nil
    case .expires: ignoresExpires = true
    }
  }

  private mutating func add(_ name: RuleEffect.Added) {
    switch name {
    case .noStore:
      noStore = true
      // Store nothing, whatever the other directives say.
      flags.remove(.mustUnderstand)
    case .noCache:
      noCache = .whole
      flags.insert(.noCache)
    case .mustRevalidate: flags.insert(.mustRevalidate)
    case .immutable: flags.insert(.immutable)
    }
  }

  /// Replaces all earlier directives with a value, except those that protect users from each other.
  private mutating func replace(with value: String, _ unprotected: Set<RuleEffect.Protection>) {
    let before = self
    var fields = HTTPFields()
    fields[.cacheControl] = value
    self = ResponseDirectives(fields, rules: CacheRules())
    source = .override
    if !unprotected.contains(.noStore), before.noStore {
      noStore = true
      if !before.flags.liftsNoStore { flags.remove(.mustUnderstand) }
    }
    guard !unprotected.contains(.private) else { return }
    switch before.private {
    case .absent: break
    case .whole: restrict(\.private, flag: .private, to: [])
    case .fields(let names): restrict(\.private, flag: .private, to: names)
    }
    if case .fields(let names) = before.noCache { restrict(\.noCache, flag: .noCache, to: names) }
  }
}

extension RuleEffect.Lifetime {
  /// The changed lifetime in seconds.
  func applied(to seconds: Int64) -> Int64 {
    switch self {
    case .exactly(let wanted): min(max(0, wanted.wholeSeconds), greatestDeltaSeconds)
    case .atLeast(let least): min(max(seconds, least.wholeSeconds), greatestDeltaSeconds)
    case .atMost(let most): min(seconds, max(0, most.wholeSeconds))
    }
  }
}
