public import HTTPTypes

/// One effect of an override. Effects are applied in order, and each sees the result of the earlier ones: if
/// two contradict each other, the later one wins.
///
/// The stored response stays as the origin sent it (RFC 9111 §3.1): effects only change how the rules see it.
public enum RuleEffect: Sendable, Hashable {
  /// How long a response is fresh, in whole seconds.
  public enum Lifetime: Sendable, Hashable {
    /// This long, whatever the origin says.
    case exactly(Duration)
    /// This long or longer.
    case atLeast(Duration)
    /// This long or shorter.
    case atMost(Duration)
  }

  /// The parts of a response that an effect can ignore.
  public enum Ignored: String, Sendable, Hashable, CaseIterable {
    /// `no-store` (RFC 9111 §5.2.2.5); in a shared cache only with `sharingDespite`.
    case noStore = "no-store"
    /// `no-cache` (§5.2.2.4); in a shared cache only without field names.
    case noCache = "no-cache"
    /// `private` (§5.2.2.7); in a shared cache only with `sharingDespite`.
    case `private` = "private"
    /// `must-revalidate` (§5.2.2.2).
    case mustRevalidate = "must-revalidate"
    /// `proxy-revalidate` (§5.2.2.8).
    case proxyRevalidate = "proxy-revalidate"
    /// `max-age` (§5.2.2.1).
    case maxAge = "max-age"
    /// `s-maxage` (§5.2.2.10).
    case sMaxAge = "s-maxage"
    /// `immutable` (RFC 8246).
    case immutable = "immutable"
    /// `stale-while-revalidate` (RFC 5861 §3).
    case staleWhileRevalidate = "stale-while-revalidate"
    /// `stale-if-error` (RFC 5861 §4).
    case staleIfError = "stale-if-error"
    /// `Expires` (§5.3).
    case expires = "Expires"
  }

  /// The directives that an effect can add to a response.
  public enum Added: String, Sendable, Hashable, CaseIterable {
    /// `no-store` (RFC 9111 §5.2.2.5).
    case noStore = "no-store"
    /// `no-cache` (§5.2.2.4).
    case noCache = "no-cache"
    /// `must-revalidate` (§5.2.2.2). Unlike the origin's directive, it does not allow a shared cache to store
    /// the answer to an authorized request (§3.5).
    case mustRevalidate = "must-revalidate"
    /// `immutable` (RFC 8246).
    case immutable = "immutable"
  }

  /// Rules that protect a user's responses from other users in a shared cache.
  public enum Protection: String, Sendable, Hashable, CaseIterable {
    /// `private` (RFC 9111 §5.2.2.7).
    case `private` = "private"
    /// `no-store` (§5.2.2.5).
    case noStore = "no-store"
    /// A response to an authorized request is not shared unless the origin allows it (§3.5).
    case authorization = "Authorization"
    /// `Vary` of `Authorization`, `Proxy-Authorization` and `Cookie`, and `Vary: *` (§4.1).
    case vary = "Vary"
    /// A response with `Set-Cookie` is stored only with `public`, and never with `CacheRules.refusesSetCookie` (§7.3).
    /// The field itself is stored only with `CacheRules.keepsSetCookie`.
    case setCookie = "Set-Cookie"
  }

  // MARK: Effects on a response

  /// How long the response is fresh (§4.2.1). Its age is calculated as usual.
  ///
  /// A lifetime longer than the origin's applies to status 2xx and 3xx only, unless the override names other
  /// statuses: error pages should not be kept for an hour by accident.
  case lifetime(Lifetime)
  /// The share of the time since `Last-Modified` and the longest heuristic lifetime (§4.2.2),
  /// instead of those of the rules.
  ///
  /// Without a limit, the limit of the mode counts (`CacheRules.heuristicLimit`).
  case heuristics(fraction: Double, limit: Duration? = nil)
  /// A directive with seconds, instead of the origin's. `staleWhileRevalidate(_:)` and `staleIfError(_:)` are
  /// shorter.
  case window(ReuseWindow, Duration)
  /// Ignores these parts of the response.
  case ignoring(Set<Ignored>)
  /// Ignores these names in `Vary` (§4.1); an empty set ignores all names and `*`.
  case ignoringVary(Set<HTTPField.Name>)
  /// Adds these directives.
  case adding(Set<Added>)
  /// A value of `Cache-Control` instead of the origin's `Cache-Control`, targeted fields and `Expires`; with
  /// `whenAbsent`, only if the response has none of them. For status 2xx and 3xx only, unless the override
  /// names other statuses. In a shared cache the origin's `no-store` and `private` stay, and the value never
  /// allows sharing the answer to an authorized request.
  case cacheControl(String, whenAbsent: Bool = false)
  /// Whether `stale-while-revalidate` is obeyed, overriding `CacheRules`.
  case allowsStaleWhileRevalidate(Bool)
  /// Whether `stale-if-error` is obeyed, overriding `CacheRules`.
  case allowsStaleIfError(Bool)
  /// Whether a stale response may be used when the origin cannot be reached, overriding `CacheRules`.
  case allowsStaleWhenDisconnected(Bool)
  /// Lets effects ignore the rules that protect a user's responses from other users in a **shared** cache.
  ///
  /// - Warning: Any user may then get a response that the origin meant for one user: account pages, tokens in
  ///   bodies, `Set-Cookie`. Use it only for targets that are known to be equal for all users, and whose
  ///   origin cannot be corrected.
  case sharingDespite(Set<Protection>)
  /// Whether the response may be stored, and used once stored. False has priority over `pins`.
  case stores(Bool)
  /// Whether the stored response is exempt from eviction. It still counts towards usage.
  case pins(Bool)

  // MARK: Effects on a request

  /// Ignores the request's `no-cache`, `max-age`, `min-fresh` and `Pragma` (§5.2.1), for clients that reload
  /// without a reason. `no-store`, `only-if-cached` and directives that allow stale responses still count.
  case ignoringRequestDirectives

  // MARK: Effects on the key

  /// Removes query items from the key, by their decoded names; `utm_*` means all names that begin with `utm_`.
  case droppingQuery(Set<String>)
  /// Removes all other query items from the key.
  case keepingQuery(Set<String>)
  /// Removes the query from the key.
  case ignoringQuery
  /// Sorts the query items of the key by name; items with equal names keep their order.
  case sortingQuery
  /// Converts ASCII letters of the path in the key to lower case.
  case lowercasingPath
  /// Stores responses with this field under the name in the field. All targets of the origin whose responses
  /// have that name share one item. See `CacheAlias`.
  case alias(HTTPField.Name)

  /// Responses are neither stored nor, if stored already, used.
  public static let neverStore = RuleEffect.stores(false)
  /// Stored responses are exempt from eviction.
  public static let pin = RuleEffect.pins(true)

  /// How long the response may be used stale while it is validated in the background, instead of the origin's
  /// `stale-while-revalidate` (RFC 5861 §3). Whole seconds count.
  public static func staleWhileRevalidate(_ duration: Duration) -> RuleEffect {
    .window(.staleWhileRevalidate, duration)
  }

  /// How long the response may be used stale when the origin fails, instead of the origin's `stale-if-error`
  /// (RFC 5861 §4). Whole seconds count.
  public static func staleIfError(_ duration: Duration) -> RuleEffect { .window(.staleIfError, duration) }
}

extension RuleEffect: CustomStringConvertible {
  /// A few words for people. Equal for equal effects, in every process.
  public var description: String {
    switch self {
    case .lifetime(.exactly(let duration)): "lifetime exactly \(duration.wholeSeconds) s"
    case .lifetime(.atLeast(let duration)): "lifetime at least \(duration.wholeSeconds) s"
    case .lifetime(.atMost(let duration)): "lifetime at most \(duration.wholeSeconds) s"
    case .heuristics(let fraction, let limit):
      "heuristic lifetime \(fraction) of the time since Last-Modified"
        + (limit.map { ", at most \($0.wholeSeconds) s" } ?? "")
    case .window(let window, let duration): "\(window.rawValue) \(duration.wholeSeconds) s"
    case .ignoring(let names): "ignore \(Self.list(names.map(\.rawValue)))"
    case .ignoringVary(let names) where names.isEmpty: "ignore Vary"
    case .ignoringVary(let names): "ignore Vary of \(Self.list(names.map(\.canonicalName)))"
    case .adding(let names): "add \(Self.list(names.map(\.rawValue)))"
    case .cacheControl(let value, whenAbsent: false): "Cache-Control: \(value)"
    case .cacheControl(let value, whenAbsent: true): "Cache-Control: \(value), if the origin sends none"
    case .allowsStaleWhileRevalidate(let isOn): "stale while revalidating: \(Self.onOff(isOn))"
    case .allowsStaleIfError(let isOn): "stale if an error: \(Self.onOff(isOn))"
    case .allowsStaleWhenDisconnected(let isOn): "stale when disconnected: \(Self.onOff(isOn))"
    case .sharingDespite(let names): "share despite \(Self.list(names.map(\.rawValue)))"
    case .stores(let isStored): isStored ? "may be stored" : "never store"
    case .pins(let isPinned): isPinned ? "pin" : "do not pin"
    case .ignoringRequestDirectives: "ignore the request's no-cache, max-age, min-fresh and Pragma"
    case .droppingQuery(let names): "key without query items \(Self.list(names))"
    case .keepingQuery(let names): "key with query items \(Self.list(names)) only"
    case .ignoringQuery: "key without query"
    case .sortingQuery: "key with sorted query"
    case .lowercasingPath: "key with path in lower case"
    case .alias(let name): "key from \(name.canonicalName) of the response"
    }
  }

  /// Whether it is an effect on the key.
  var isOnKey: Bool {
    switch self {
    case .droppingQuery, .keepingQuery, .ignoringQuery, .sortingQuery, .lowercasingPath, .alias: true
    case .lifetime, .heuristics, .window, .ignoring, .ignoringVary, .adding,
      .cacheControl, .allowsStaleWhileRevalidate, .allowsStaleIfError, .allowsStaleWhenDisconnected,
      .sharingDespite, .stores, .pins, .ignoringRequestDirectives:
      false
    }
  }

  /// Whether it is an effect on a response.
  var isOnResponse: Bool { !isOnKey && self != .ignoringRequestDirectives }

  /// Whether it may make a response fresh that would otherwise be stale.
  var isGenerous: Bool {
    switch self {
    case .lifetime(.exactly), .lifetime(.atLeast), .cacheControl: true
    case .lifetime(.atMost), .heuristics, .window, .ignoring, .ignoringVary,
      .adding, .allowsStaleWhileRevalidate, .allowsStaleIfError, .allowsStaleWhenDisconnected,
      .sharingDespite, .stores, .pins, .ignoringRequestDirectives, .droppingQuery, .keepingQuery,
      .ignoringQuery, .sortingQuery, .lowercasingPath, .alias:
      false
    }
  }

  private static func list(_ names: some Sequence<String>) -> String {
    names.sorted().joined(separator: ", ")
  }

  private static func onOff(_ isOn: Bool) -> String { isOn ? "on" : "off" }
}
