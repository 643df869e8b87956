public import HTTPTypes

extension ResponseDirectives {
  /// The directives of a response as the overrides of the rules have them.
  ///
  /// - Parameters:
  ///   - response: the head as it arrived or as it is stored.
  ///   - rules: the choices of the cache, resolved for the request (`CacheRules.resolved(for:)`).
  public init(of response: HTTPResponse, rules: CacheRules) {
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

  /// Which protections effects may ignore: all in a private cache, what is allowed in a shared one.
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
  ///   - origin: what the origin said.
  ///   - unprotected: what may be ignored though it protects users from each other.
  mutating func apply(
    _ effect: RuleEffect, to response: HTTPResponse, origin: ResponseDirectives,
    unprotected: Set<RuleEffect.Protection>
  ) {
    switch effect {
    case .lifetime(let lifetime): lifetimes.append(lifetime)
    case .staleWhileRevalidate(let seconds):
      staleWhileRevalidate = min(max(0, seconds), greatestDeltaSeconds)
    case .staleIfError(let seconds): staleIfError = min(max(0, seconds), greatestDeltaSeconds)
    case .ignoring(let names): for name in names { ignore(name, unprotected) }
    case .adding(let names): for name in names { add(name) }
    case .cacheControl(let value, let whenAbsent):
      let fields = response.headerFields
      let isAbsent =
        origin.source == .cacheControl && !fields.contains(.cacheControl) && !fields.contains(.expires)
      if isAbsent || !whenAbsent { replace(with: value, unprotected) }
    default: break
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
      // In a shared cache fields that are named stay out of the store: they are one user's.
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
      // Nothing is to be stored, whatever else is said.
      flags.remove(.mustUnderstand)
    case .noCache:
      noCache = .whole
      flags.insert(.noCache)
    case .mustRevalidate: flags.insert(.mustRevalidate)
    case .immutable: flags.insert(.immutable)
    }
  }

  /// Takes a value for all that was said before, save for what protects users from each other.
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
  /// What becomes of a lifetime in seconds.
  func applied(to seconds: Int64) -> Int64 {
    switch self {
    case .exactly(let wanted): min(max(0, wanted), greatestDeltaSeconds)
    case .atLeast(let least): min(max(seconds, least), greatestDeltaSeconds)
    case .atMost(let most): min(seconds, max(0, most))
    }
  }
}
