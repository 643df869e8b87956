/// The directives of a response that the cache obeys: the one table of the parsers, the explanations and the
/// overrides. The order of the cases is their order in an explanation.
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

  /// Where the parsers keep the directive.
  var place: Place {
    switch self {
    case .noStore: .flag(.noStore, .always)
    case .noCache: .noCache
    case .private: .private
    case .maxAge: .maxAge
    case .sMaxAge: .sMaxAge
    case .staleWhileRevalidate: .window(.staleWhileRevalidate)
    case .staleIfError: .window(.staleIfError)
    case .mustRevalidate: .flag(.mustRevalidate, .noting(.malformedMustRevalidate))
    case .proxyRevalidate: .flag(.proxyRevalidate, .always)
    // The arguments of `immutable` have no meaning (RFC 8246 §2).
    case .immutable: .flag(.immutable, .wellFormed)
    case .public: .flag(.public, .withoutArgument)
    case .mustUnderstand: .flag(.mustUnderstand, .noting(.malformedMustUnderstand))
    case .noTransform: .flag(.noTransform, .always)
    }
  }

  /// All directives, made once.
  private static let all = allCases

  /// The directive with this name in any letter case; nil for an unknown name.
  init?(named name: Octets) {
    guard let found = Self.all.first(where: { name.isCaseInsensitively($0.name) }) else { return nil }
    self = found
  }

  /// The directive with this name, like `init(named:)`.
  init?(named name: String) {
    var name = name
    guard let found = name.withUTF8({ Self(named: $0) }) else { return nil }
    self = found
  }
}

extension ResponseDirective {
  /// Where the parsers keep a directive.
  enum Place {
    /// `ResponseDirectives.maxAge`.
    case maxAge
    /// `ResponseDirectives.sMaxAge`.
    case sMaxAge
    /// `ResponseDirectives.noCache`.
    case noCache
    /// `ResponseDirectives.private`.
    case `private`
    /// The seconds of a window.
    case window(ReuseWindow)
    /// A flag, for a directive without argument.
    case flag(ReuseFacts.Directives, FlagForm)
  }

  /// The forms in which a directive without argument counts.
  enum FlagForm {
    /// Every form: the directive only restricts.
    case always
    /// Without argument, or with a well-formed one.
    case wellFormed
    /// Without argument: the directive only permits.
    case withoutArgument
    /// Every form, and a flag notes a malformed one: the directive restricts and permits.
    case noting(ReuseFacts.Directives)
  }

  /// The kind of argument that the directive takes.
  var argument: DirectiveArgument.Kind {
    switch place {
    case .maxAge, .sMaxAge, .window: .seconds
    case .noCache, .private: .fieldNames
    case .flag: .nothing
    }
  }

  /// The flag of the directive; nil if only its seconds count.
  var flag: ReuseFacts.Directives? {
    switch place {
    case .maxAge, .window: nil
    case .sMaxAge: .sMaxAge
    case .noCache: .noCache
    case .private: .private
    case .flag(let flag, _): flag
    }
  }
}
