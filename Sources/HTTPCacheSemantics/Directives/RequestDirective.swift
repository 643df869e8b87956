/// The directives of a request that the cache obeys (RFC 9111 §5.2.1, RFC 5861 §4), in their order in an
/// explanation.
package enum RequestDirective: CaseIterable, Sendable {
  case noCache
  case noStore
  case maxAge
  case minFresh
  case maxStale
  case staleIfError
  case onlyIfCached
  case noTransform

  /// The name, in lower case.
  package var name: StaticString {
    switch self {
    case .noCache: "no-cache"
    case .noStore: "no-store"
    case .maxAge: "max-age"
    case .minFresh: "min-fresh"
    case .maxStale: "max-stale"
    case .staleIfError: "stale-if-error"
    case .onlyIfCached: "only-if-cached"
    case .noTransform: "no-transform"
    }
  }

  /// The kind of argument that the directive takes.
  var argument: DirectiveArgument.Kind {
    switch self {
    case .maxAge, .minFresh, .maxStale, .staleIfError: .seconds
    case .noCache, .noStore, .onlyIfCached, .noTransform: .nothing
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
