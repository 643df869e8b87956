/// The directives of a response that the cache obeys: the one table of the parsers, the explanations and the
/// overrides. Every property is an exhaustive switch, so that the compiler asks for each answer about a new
/// directive. The order of the cases is their order in an explanation.
package enum ResponseDirective: CaseIterable, Sendable {
  case noStore
  case noCache
  case `private`
  case maxAge
  case sMaxAge
  case staleWhileRevalidate
  case staleIfError
  case mustRevalidate
  case proxyRevalidate
  case immutable
  case `public`
  case mustUnderstand
  case noTransform

  /// The name, in lower case.
  package var name: StaticString {
    switch self {
    case .noStore: "no-store"
    case .noCache: "no-cache"
    case .private: "private"
    case .maxAge: "max-age"
    case .sMaxAge: "s-maxage"
    case .staleWhileRevalidate: "stale-while-revalidate"
    case .staleIfError: "stale-if-error"
    case .mustRevalidate: "must-revalidate"
    case .proxyRevalidate: "proxy-revalidate"
    case .immutable: "immutable"
    case .public: "public"
    case .mustUnderstand: "must-understand"
    case .noTransform: "no-transform"
    }
  }

  /// The kind of argument that the directive takes.
  var argument: DirectiveArgument.Kind {
    switch self {
    case .noStore, .mustRevalidate, .proxyRevalidate, .immutable, .public, .mustUnderstand, .noTransform:
      .nothing
    case .maxAge, .sMaxAge, .staleWhileRevalidate, .staleIfError: .seconds
    case .noCache, .private: .fieldNames
    }
  }

  /// The flag that is kept with a stored response; nil if its seconds are kept, or if it counts only while the
  /// response is stored.
  var flag: ReuseFacts.Directives? {
    switch self {
    case .noStore, .noTransform, .maxAge, .staleWhileRevalidate, .staleIfError: nil
    case .noCache: .noCache
    case .private: .private
    case .sMaxAge: .sMaxAge
    case .mustRevalidate: .mustRevalidate
    case .proxyRevalidate: .proxyRevalidate
    case .immutable: .immutable
    case .public: .public
    case .mustUnderstand: .mustUnderstand
    }
  }

  /// The part of an override that ignores the directive; nil if none does.
  var ignored: RuleEffect.Ignored? {
    switch self {
    case .noStore: .noStore
    case .noCache: .noCache
    case .private: .private
    case .maxAge: .maxAge
    case .sMaxAge: .sMaxAge
    case .staleWhileRevalidate: .staleWhileRevalidate
    case .staleIfError: .staleIfError
    case .mustRevalidate: .mustRevalidate
    case .proxyRevalidate: .proxyRevalidate
    case .immutable: .immutable
    case .public, .mustUnderstand, .noTransform: nil
    }
  }

  /// The part of an override that adds the directive; nil if none does.
  var added: RuleEffect.Added? {
    switch self {
    case .noStore: .noStore
    case .noCache: .noCache
    case .mustRevalidate: .mustRevalidate
    case .immutable: .immutable
    case .private, .maxAge, .sMaxAge, .staleWhileRevalidate, .staleIfError, .proxyRevalidate, .public,
      .mustUnderstand, .noTransform:
      nil
    }
  }

  /// All directives, made once.
  private static let all = allCases

  /// The directive with this name in any letter case; nil for an unknown name.
  init?(named name: Octets) {
    guard let found = Self.all.first(where: { name.isCaseInsensitively($0.name) }) else { return nil }
    self = found
  }
}
