extension CacheRules {
  /// Why the rules cannot be used: the first value that a property cannot have, such as a negative lifetime; nil if all
  /// can be used.
  public var problem: String? {
    if !heuristicFraction.isFinite || heuristicFraction < 0 {
      return "heuristicFraction must be a number from 0 on (got \(heuristicFraction))"
    }
    if let heuristicLimit, heuristicLimit < .zero {
      return "heuristicLimit must not be negative (got \(heuristicLimit))"
    }
    if variantLimit < 1 { return "variantLimit must be at least 1 (got \(variantLimit))" }
    if queryContentLimit < 0 { return "queryContentLimit must not be negative (got \(queryContentLimit))" }
    for (index, override) in overrides.enumerated() {
      for effect in override.effects {
        guard let problem = effect.problem else { continue }
        let name = override.name.isEmpty ? "" : " (\(override.name))"
        return "override \(index + 1)\(name): \(problem)"
      }
    }
    return nil
  }
}

extension RuleEffect {
  /// Why the effect cannot be applied; nil if it can.
  public var problem: String? {
    switch self {
    case .lifetime(.exactly(let duration)), .lifetime(.atLeast(let duration)),
      .lifetime(.atMost(let duration)):
      Self.negative("lifetime", duration)
    case .window(let window, let duration): Self.negative(window.rawValue, duration)
    case .heuristics(let fraction, let limit):
      if !fraction.isFinite || fraction < 0 {
        "the fraction of heuristics must be a number from 0 on (got \(fraction))"
      } else {
        limit.flatMap { Self.negative("the limit of heuristics", $0) }
      }
    case .cacheControl(var value, _):
      value.withUTF8 { CacheControl.problem(in: $0) }.map { "Cache-Control '\(value)': \($0)" }
    case .ignoring, .ignoringVary, .adding, .allowsStaleWhileRevalidate, .allowsStaleIfError,
      .allowsStaleWhenDisconnected, .sharingDespite, .stores, .pins, .ignoringRequestDirectives,
      .droppingQuery,
      .keepingQuery, .ignoringQuery, .sortingQuery, .lowercasingPath, .alias:
      nil
    }
  }

  private static func negative(_ name: String, _ duration: Duration) -> String? {
    duration < .zero ? "\(name) must not be negative (got \(duration))" : nil
  }
}

extension CacheControl {
  /// The first malformed directive of a value that a program gives; nil without one. An unknown directive is an extension
  /// (RFC 9111 §5.2.3).
  static func problem(in octets: Octets) -> String? {
    var problem: String?
    forEachDirective(in: octets) { name, argument in
      if problem != nil { return }
      if argument.isMalformed {
        problem = "malformed near '\(name.text)'"
      } else if let directive = ResponseDirective(named: name) {
        problem = self.problem(in: DirectiveArgument(argument, as: directive.argument), of: directive)
      }
    }
    return problem
  }

  private static func problem(in argument: DirectiveArgument, of directive: ResponseDirective) -> String? {
    switch (directive.argument, argument) {
    case (.seconds, .seconds), (.nothing, .none), (.fieldNames, .none), (.fieldNames, .fieldNames): nil
    case (.seconds, _): "\(directive.name) needs a number of seconds"
    case (.nothing, _): "\(directive.name) has no argument"
    case (.fieldNames, _): "the argument of \(directive.name) is a list of fields"
    }
  }
}
