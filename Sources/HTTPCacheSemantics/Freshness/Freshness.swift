public import HTTPTypes

/// The lifetime of a response, and its age on arrival (RFC 9111 §4.2).
public enum Freshness {
  /// Derives the facts about reuse that follow from a response alone.
  ///
  /// - Parameters:
  ///   - response: the head as it arrived, before fields were removed for storing.
  ///   - requestTime: when the request was sent.
  ///   - responseTime: when the response arrived; replaces a missing or invalid `Date` (RFC 9110 §6.6.1).
  ///   - rules: the choices of the cache.
  public static func facts(
    response: HTTPResponse, requestTime: Timestamp, responseTime: Timestamp, rules: CacheRules
  ) -> ReuseFacts {
    strictestFacts(
      response: response, directives: ResponseDirectives(of: response, rules: rules),
      requestTime: requestTime, responseTime: responseTime, rules: rules)
  }

  /// The facts by the rules and by those for other readings of the target, of each what permits less.
  ///
  /// - Parameter directives: of the response, by the rules alone.
  static func strictestFacts(
    response: HTTPResponse, directives: ResponseDirectives, requestTime: Timestamp, responseTime: Timestamp,
    rules: CacheRules
  ) -> ReuseFacts {
    var strictest = facts(
      response: response, directives: directives, requestTime: requestTime, responseTime: responseTime,
      rules: rules)
    for rules in rules.otherReadings {
      strictest.restrict(
        to: facts(
          response: response, directives: ResponseDirectives(of: response, rules: rules),
          requestTime: requestTime, responseTime: responseTime, rules: rules))
    }
    return strictest
  }

  /// The facts by the rules alone.
  static func facts(
    response: HTTPResponse, directives: ResponseDirectives, requestTime: Timestamp,
    responseTime: Timestamp, rules: CacheRules
  ) -> ReuseFacts {
    let date = response.headerFields.date(.date, relativeTo: responseTime).time ?? responseTime
    let lifetime =
      rules.isPlain
      ? lifetime(
        response: response, directives: directives, date: date, responseTime: responseTime,
        rules: rules)
      : overriddenLifetime(
        response: response, directives: directives, date: date, responseTime: responseTime,
        rules: rules.concerningOwn(response))
    var flags = directives.flags.kept
    // A head that other rules have stored may have the field.
    if CookieSharing.isLeftOut(by: rules), !response.headerFields.contains(.setCookie) {
      flags.insert(.withoutSetCookie)
    }
    return ReuseFacts(
      freshnessLifetime: lifetime.seconds, lifetimeSource: lifetime.source,
      correctedInitialAge: initialAge(
        fields: response.headerFields, date: date, requestTime: requestTime,
        responseTime: responseTime),
      directives: flags, windows: directives.windows,
      overrides: rules.applied?.responseFingerprint ?? 0)
  }

  /// The lifetime of `lifetime` after applying the overrides.
  private static func overriddenLifetime(
    response: HTTPResponse, directives: ResponseDirectives, date: Timestamp,
    responseTime: Timestamp, rules: CacheRules
  ) -> (seconds: Int64, source: ReuseFacts.LifetimeSource) {
    var lifetime = lifetime(
      response: response, directives: directives, date: date, responseTime: responseTime,
      rules: rules)
    for overriding in directives.lifetimes {
      let seconds = overriding.applied(to: lifetime.seconds)
      guard seconds != lifetime.seconds else { continue }
      // A guess that is only shortened is still a guess.
      if case .atMost = overriding, lifetime.source == .heuristic {
        lifetime.seconds = seconds
      } else {
        lifetime = (seconds, .override)
      }
    }
    return lifetime
  }

  /// The freshness lifetime by the first rule that matches (§4.2.1).
  private static func lifetime(
    response: HTTPResponse, directives: ResponseDirectives, date: Timestamp,
    responseTime: Timestamp, rules: CacheRules
  ) -> (seconds: Int64, source: ReuseFacts.LifetimeSource) {
    if let explicit = directives.lifetime(in: rules.mode) { return explicit }
    // Next to a targeted field, `Expires` is ignored (RFC 9213 §2.2).
    if directives.obeysExpires {
      switch response.headerFields.date(.expires, relativeTo: responseTime) {
      case .valid(let expires):
        return (min(max(expires - date, 0), greatestDeltaSeconds), .expires)
      case .invalid: return (0, .expires)
      case .absent: break
      }
    }
    guard
      allowsHeuristics(status: response.status.code, directives: directives, mode: rules.mode),
      let modified = response.headerFields.date(.lastModified, relativeTo: responseTime).time
    else { return (0, .none) }
    // A `Date` in the future must not lengthen the interval.
    let interval = min(date, responseTime) - modified
    guard let seconds = heuristic(interval: interval, rules: rules) else { return (0, .none) }
    return (seconds, .heuristic)
  }

  /// Whether a heuristic lifetime is allowed (§4.2.2).
  private static func allowsHeuristics(
    status: Int, directives: ResponseDirectives, mode: CacheMode
  ) -> Bool {
    StatusCaching.isHeuristicallyCacheable(status) || directives.flags.contains(.public)
      || directives.permitsPrivateStoring(in: mode)
  }

  /// A share of the time since the last change (§4.2.2); nil without heuristics.
  private static func heuristic(interval: Int64, rules: CacheRules) -> Int64? {
    let share = Double(interval) * rules.heuristicFraction
    guard share >= 1 else { return nil }
    let seconds = share < Double(greatestDeltaSeconds) ? Int64(share) : greatestDeltaSeconds
    return min(seconds, max(rules.longestHeuristicLifetime.wholeSeconds, 0))
  }

  /// The corrected initial age (§4.2.3), with the conservative correction for old caches.
  private static func initialAge(
    fields: HTTPFields, date: Timestamp, requestTime: Timestamp, responseTime: Timestamp
  ) -> Int64 {
    let apparentAge = max(0, responseTime - date)
    let responseDelay = max(0, responseTime - requestTime)
    let correctedAge = Age.received(fields).saturatingAdd(responseDelay)
    return min(max(apparentAge, correctedAge), greatestDeltaSeconds)
  }
}

/// How old a stored response is (RFC 9111 §4.2.3, §5.1).
public enum Age {
  /// The current age in seconds: the age on arrival plus the time since then.
  ///
  /// If the clock was set back, the time since arrival counts as 0; the sum saturates.
  public static func current(_ stored: StoredResponse, now: Timestamp) -> Int64 {
    let residentTime = max(0, now - stored.responseTime)
    return min(
      max(0, stored.facts.correctedInitialAge).saturatingAdd(residentTime), greatestDeltaSeconds)
  }

  /// The value of `Age`: its first member, 0 if that is not a number of seconds (§5.1).
  static func received(_ fields: HTTPFields) -> Int64 {
    guard let field = fields.first(.age) else { return 0 }
    return field.withUnsafeBytesOfValue { octets in
      var members = FieldMembers(octets)
      return members.next()?.deltaSeconds ?? 0
    }
  }
}
