import HTTPTypes

/// Facts about the reuse of a stored response, computed when it is stored or freshened, so that a hit only
/// compares numbers.
public struct ReuseFacts: Sendable, Hashable {
  /// Where a freshness lifetime came from (RFC 9111 §4.2.1, §4.2.2).
  public enum LifetimeSource: UInt8, Sendable, Hashable, CaseIterable {
    /// No lifetime: always stale.
    case none = 0
    /// `s-maxage` (§5.2.2.10).
    case sMaxAge = 1
    /// `max-age` (§5.2.2.1).
    case maxAge = 2
    /// `Expires` (§5.3).
    case expires = 3
    /// A share of the time since `Last-Modified` (§4.2.2).
    case heuristic = 4
    /// `max-age` or `s-maxage` in a targeted field (RFC 9213).
    case targeted = 5
    /// An override of the cache's rules.
    case `override` = 6
  }

  /// Directives of the response that affect reuse.
  public struct Directives: OptionSet, Sendable, Hashable {
    /// The bits, as stored on disk.
    public let rawValue: UInt32
    /// Makes a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// `no-cache` without arguments (§5.2.2.4).
    public static let noCache = Directives(rawValue: 1)
    /// `must-revalidate` (§5.2.2.2).
    public static let mustRevalidate = Directives(rawValue: 2)
    /// `proxy-revalidate` (§5.2.2.8).
    public static let proxyRevalidate = Directives(rawValue: 4)
    /// `s-maxage`, which implies `proxy-revalidate` (§5.2.2.10).
    public static let sMaxAge = Directives(rawValue: 8)
    /// `immutable` (RFC 8246).
    public static let immutable = Directives(rawValue: 16)
    /// `public` (§5.2.2.9).
    public static let `public` = Directives(rawValue: 32)
    /// `private` without arguments (§5.2.2.7).
    public static let `private` = Directives(rawValue: 64)
    /// `must-understand` (§5.2.2.3).
    public static let mustUnderstand = Directives(rawValue: 128)
    /// An override allows sharing the answer to an authorized request.
    static let sharedByOverride = Directives(rawValue: 256)
    /// The directive that seems to allow this (§3.5) comes from an override, not from the origin.
    static let notSharedByOrigin = Directives(rawValue: 512)
    /// `must-revalidate` is present but malformed: it restricts, and permits nothing (§3.5).
    static let malformedMustRevalidate = Directives(rawValue: 1_024)
    /// `s-maxage` is present but malformed.
    static let malformedSMaxAge = Directives(rawValue: 2_048)
    /// `must-understand` is present but malformed.
    static let malformedMustUnderstand = Directives(rawValue: 4_096)
    /// `private` is present but malformed.
    static let malformedPrivate = Directives(rawValue: 8_192)
    /// `max-age` is present but malformed.
    static let malformedMaxAge = Directives(rawValue: 16_384)
    /// The stored response has no `Set-Cookie`: the rules leave the field out (§7.3).
    static let withoutSetCookie = Directives(rawValue: 32_768)
    /// `no-store` (§5.2.2.5).
    package static let noStore = Directives(rawValue: 1 << 30)
    /// `no-transform` (§5.2.2.6).
    package static let noTransform = Directives(rawValue: 1 << 31)

    /// The directives that are kept with a stored response. The others count only while it is stored.
    var kept: Directives { subtracting([.noStore, .noTransform]) }
  }

  /// The freshness lifetime in seconds (§4.2.1).
  public var freshnessLifetime: Int64
  /// Where the lifetime came from.
  public var lifetimeSource: LifetimeSource
  /// The corrected initial age in seconds (§4.2.3).
  public var correctedInitialAge: Int64
  /// Directives that affect reuse.
  public var directives: Directives
  /// The directives with seconds that affect reuse.
  package var windows: ReuseWindows
  /// Equal for equal overrides that affected these facts; 0 for none.
  package var overrides: UInt64

  /// Makes the facts of a response without directives beyond its lifetime.
  public init(freshnessLifetime: Int64, lifetimeSource: LifetimeSource, correctedInitialAge: Int64) {
    self.init(
      freshnessLifetime: freshnessLifetime, lifetimeSource: lifetimeSource,
      correctedInitialAge: correctedInitialAge, directives: [], windows: ReuseWindows(), overrides: 0)
  }

  /// Makes facts; `Freshness.facts` derives them from a response.
  package init(
    freshnessLifetime: Int64, lifetimeSource: LifetimeSource, correctedInitialAge: Int64,
    directives: Directives, windows: ReuseWindows, overrides: UInt64
  ) {
    self.freshnessLifetime = freshnessLifetime
    self.lifetimeSource = lifetimeSource
    self.correctedInitialAge = correctedInitialAge
    self.directives = directives
    self.windows = windows
    self.overrides = overrides
  }

  /// The seconds of a directive; nil if the response does not have it.
  public subscript(window: ReuseWindow) -> Int64? { windows[window] }

  /// Takes from each of these facts and others what permits less reuse.
  mutating func restrict(to others: ReuseFacts) {
    if others.freshnessLifetime < freshnessLifetime {
      freshnessLifetime = others.freshnessLifetime
      lifetimeSource = others.lifetimeSource
    }
    let permitting: Directives = [.public, .immutable, .sharedByOverride, .withoutSetCookie]
    directives = directives.union(others.directives)
      .subtracting(permitting.subtracting(directives.intersection(others.directives)))
    for window in ReuseWindow.allCases {
      windows[window] = windows[window].flatMap { own in others.windows[window].map { min(own, $0) } }
    }
  }
}

extension ReuseFacts {
  /// Whether `immutable` counts. A client obeys it only if the origin is authenticated (RFC 8246 §3), or is
  /// this machine; a shared cache leaves it to its clients (§2.1).
  func isImmutable(for request: HTTPRequest, rules: CacheRules) -> Bool {
    guard directives.contains(.immutable) else { return false }
    if rules.mode == .shared || request.scheme == "https" { return true }
    return CacheKey.target(of: request).flatMap { TargetURI.origin(of: $0) }.map(Self.isLoopback) ?? false
  }

  private static func isLoopback(origin: String) -> Bool {
    let host = origin.dropFirst("http://".count)
    if host.hasPrefix("[") { return host.hasPrefix("[::1]") }
    let name = host.prefix { $0 != ":" }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return name == "localhost"
      || (parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil })
  }
}
