package import HTTPTypes

extension ResponseDirectives {
  /// The directives of a response after applying the overrides of the rules.
  ///
  /// - Parameters:
  ///   - response: the head as it arrived or as it is stored.
  ///   - rules: the choices of the cache, resolved for the request (`CacheRules.resolved(for:)`).
  package init(of response: HTTPResponse, rules: CacheRules) {
    var untraced = Untraced()
    self.init(of: response, rules: rules, trace: &untraced)
  }

  init<Trace: RuleTrace>(of response: HTTPResponse, rules: CacheRules, trace: inout Trace) {
    self.init(response.headerFields, rules: rules)
    if let applied = rules.applied, applied.responseFingerprint != 0 {
      apply(applied, to: response, rules: rules, trace: &trace)
    }
    trace.note(
      "Which directives does it have?",
      "\(Excerpt.list(texts, orElse: "none")) in \(field)"
        + (source == .cacheControl ? "" : ", which replaces Cache-Control and Expires"),
      section: source == .cacheControl || source == .override ? "RFC 9111 §5.2.2" : "RFC 9213 §2.2",
      topic: .freshness)
  }

  /// Applies the overrides that match, in order.
  private mutating func apply<Trace: RuleTrace>(
    _ applied: OverrideSet, to response: HTTPResponse, rules: CacheRules, trace: inout Trace
  ) {
    let origin = self
    let unprotected = Self.unprotected(response, rules: rules)
    for index in applied.matched {
      let override = applied.overrides[index]
      for effect in override.effects where effect.isOnResponse {
        let before = self
        var isApplied = false
        var isOnDirectives = false
        if override.concerns(response), override.applies(effect, to: response) {
          isApplied = true
          isOnDirectives = apply(effect, to: response, origin: origin, unprotected: unprotected)
        }
        trace.note(
          "What does \(rules.nameOfOverride(index)) change?",
          "\(effect): "
            + (isApplied ? change(from: before, isExpected: isOnDirectives) : "not for this response"),
          section: "", topic: .overrides)
      }
    }
    guard rules.mode == .shared else { return }
    if unprotected.contains(.authorization) {
      flags.insert(.sharedByOverride)
    } else if flags.allowsSharingAuthorized, !origin.flags.allowsSharingAuthorized {
      flags.insert(.notSharedByOrigin)
    }
  }

  /// The change by an effect, for people.
  ///
  /// - Parameter isExpected: whether it is an effect on the directives.
  private func change(from before: ResponseDirectives, isExpected: Bool) -> String {
    if texts != before.texts {
      return "\(Excerpt.list(before.texts, orElse: "none")) becomes \(Excerpt.list(texts, orElse: "none"))"
    }
    return isExpected && self == before ? "changes nothing" : "in force"
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
  /// - Returns: whether it is an effect on the directives.
  private mutating func apply(
    _ effect: RuleEffect, to response: HTTPResponse, origin: ResponseDirectives,
    unprotected: Set<RuleEffect.Protection>
  ) -> Bool {
    switch effect {
    case .lifetime(let lifetime): lifetimes.append(lifetime)
    case .window(let window, let duration):
      windows[window] = min(max(0, duration.wholeSeconds), greatestDeltaSeconds)
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
      return false
    }
    return true
  }

  private mutating func ignore(
    _ name: RuleEffect.Ignored, _ unprotected: Set<RuleEffect.Protection>
  ) {
    // `Expires` is not a directive.
    guard let directive = ResponseDirective(named: name.rawValue) else {
      ignoresExpires = true
      return
    }
    switch directive.place {
    case .flag(.noStore, _) where !unprotected.contains(.noStore): return
    case .private:
      guard unprotected.contains(.private) else { return }
      self.private = .absent
    case .noCache:
      // In a shared cache the named fields are not stored: they are one user's.
      if case .fields = noCache, !unprotected.contains(.private) { return }
      noCache = .absent
    case .maxAge: maxAge = nil
    case .sMaxAge: sMaxAge = nil
    case .window(let window): windows[window] = nil
    case .flag: break
    }
    if let flag = directive.flag { flags.remove(flag) }
  }

  private mutating func add(_ name: RuleEffect.Added) {
    guard let flag = ResponseDirective(named: name.rawValue)?.flag else { return }
    flags.insert(flag)
    // Store nothing, whatever the other directives say.
    if flag == .noStore { flags.remove(.mustUnderstand) }
    if flag == .noCache { noCache = .whole }
  }

  /// Replaces all earlier directives with a value, except those that protect users from each other.
  private mutating func replace(with value: String, _ unprotected: Set<RuleEffect.Protection>) {
    let before = self
    var fields = HTTPFields()
    fields[.cacheControl] = value
    self = ResponseDirectives(fields, rules: CacheRules())
    source = .override
    if !unprotected.contains(.noStore), before.noStore {
      flags.insert(.noStore)
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
