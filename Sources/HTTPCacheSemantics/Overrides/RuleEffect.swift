public import HTTPTypes

/// One thing that an override makes different. Effects are applied in order; each sees what those
/// before it made, so where two contradict each other the later one wins.
///
/// What is stored stays what the origin sent (RFC 9111 §3.1): only the rules see it otherwise.
public enum RuleEffect: Sendable, Hashable {
  /// How long a response is fresh, in seconds.
  public enum Lifetime: Sendable, Hashable {
    /// This long, whatever the origin says.
    case exactly(Int64)
    /// This long or longer.
    case atLeast(Int64)
    /// This long or shorter.
    case atMost(Int64)
  }

  /// What of a response is taken as not there.
  public enum Ignored: String, Sendable, Hashable, CaseIterable {
    /// `no-store` (RFC 9111 §5.2.2.5); in a shared cache only with `sharingDespite`.
    case noStore = "no-store"
    /// `no-cache` (§5.2.2.4); in a shared cache not the one that names fields.
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

  /// What of a response is taken as if it were there.
  public enum Added: String, Sendable, Hashable, CaseIterable {
    /// `no-store` (RFC 9111 §5.2.2.5).
    case noStore = "no-store"
    /// `no-cache` (§5.2.2.4).
    case noCache = "no-cache"
    /// `must-revalidate` (§5.2.2.2). Unlike the origin's own it does not allow a shared cache to store
    /// the answer to an authorized request (§3.5).
    case mustRevalidate = "must-revalidate"
    /// `immutable` (RFC 8246).
    case immutable = "immutable"
  }

  /// What protects one user's responses from others in a shared cache.
  public enum Protection: String, Sendable, Hashable, CaseIterable {
    /// `private` (RFC 9111 §5.2.2.7).
    case `private` = "private"
    /// `no-store` (§5.2.2.5).
    case noStore = "no-store"
    /// That nothing allows the answer to an authorized request to be shared (§3.5).
    case authorization = "Authorization"
    /// `Vary` of `Authorization`, `Proxy-Authorization` and `Cookie`, and `Vary: *` (§4.1).
    case vary = "Vary"
    /// That `Set-Cookie` is stored only with an explicit lifetime of the origin's, and never with
    /// `CacheRules.refusesSetCookie` (§7.3).
    case setCookie = "Set-Cookie"
  }

  // MARK: Effects on a response

  /// How long it is fresh (§4.2.1). Its age counts as it does otherwise.
  ///
  /// More than the origin gives is for status 2xx and 3xx only, unless the override names others: no
  /// error page is to be kept for an hour because of it.
  case lifetime(Lifetime)
  /// The share of the time since `Last-Modified`, and the longest in seconds (§4.2.2), in place of
  /// those of the rules.
  ///
  /// Without a limit, that of the mode counts (`CacheRules.heuristicLimit`).
  case heuristics(fraction: Double, limit: Int64? = nil)
  /// The `stale-while-revalidate` window in seconds (RFC 5861 §3).
  case staleWhileRevalidate(Int64)
  /// The `stale-if-error` window in seconds (RFC 5861 §4).
  case staleIfError(Int64)
  /// Takes these as not there.
  case ignoring(Set<Ignored>)
  /// Takes these names as not there in `Vary` (§4.1); an empty set is all of them and `*`.
  case ignoringVary(Set<HTTPField.Name>)
  /// Takes these as if they were there.
  case adding(Set<Added>)
  /// A value of `Cache-Control` in place of the origin's `Cache-Control`, targeted fields and
  /// `Expires`; or, with `whenAbsent`, only if there is none of them. For status 2xx and 3xx only,
  /// unless the override names others. In a shared cache the origin's `no-store` and `private` stay,
  /// and nothing of the value allows to share the answer to an authorized request.
  case cacheControl(String, whenAbsent: Bool = false)
  /// Whether `stale-while-revalidate` is obeyed, in place of `CacheRules`.
  case allowsStaleWhileRevalidate(Bool)
  /// Whether `stale-if-error` is obeyed, in place of `CacheRules`.
  case allowsStaleIfError(Bool)
  /// Whether it may be used stale when the origin cannot be reached, in place of `CacheRules`.
  case allowsStaleWhenDisconnected(Bool)
  /// Lets effects ignore what protects one user's responses from others in a **shared** cache.
  ///
  /// - Warning: With it everybody may get what the origin meant for one user: account pages, tokens in
  ///   bodies, `Set-Cookie`. Only for targets of which it is known that all users get the same, and
  ///   whose origin cannot be told so.
  case sharingDespite(Set<Protection>)
  /// Whether it may be stored, and what is stored be used. False goes before `pins`.
  case stores(Bool)
  /// Whether it is kept from eviction once it is stored. It still counts.
  case pins(Bool)

  // MARK: Effects on a request

  /// Takes the request's `no-cache`, `max-age`, `min-fresh` and `Pragma` as not there (§5.2.1): for
  /// clients that reload without a reason. `no-store`, `only-if-cached` and what allows stale responses
  /// stay.
  case ignoringRequestDirectives

  // MARK: Effects on the key

  /// Leaves query items out of the key, by their decoded names; `utm_*` is all that begin with `utm_`.
  case droppingQuery(Set<String>)
  /// Leaves all other query items out of the key.
  case keepingQuery(Set<String>)
  /// Leaves the query out of the key.
  case ignoringQuery
  /// Puts the query items of the key in the order of their names; those of one name stay in order.
  case sortingQuery
  /// Puts ASCII letters of the path in lower case in the key.
  case lowercasingPath
  /// Stores responses with this field under the name it gives, which all targets of the origin share
  /// that have it. See `CacheAlias`.
  case alias(HTTPField.Name)

  /// Nothing is stored, and nothing that is stored is used.
  public static let neverStore = RuleEffect.stores(false)
  /// What is stored is kept from eviction.
  public static let pin = RuleEffect.pins(true)
}
