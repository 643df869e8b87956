public import HTTPTypes

/// Changes of the fields of requests or responses.
public struct FieldRules: Sendable, Hashable {
  /// The fields to set, instead of those of their names.
  public var set: [HTTPField] = []
  /// The names of fields to remove, in lower case; one that ends in `*` means all names that begin so.
  public var removed: [String] = []
  /// The names of fields that are never removed, in lower case.
  public var kept: Set<String> = []

  /// The most fields that rules may set.
  public static let mostSet = 1_000

  /// Makes rules that change nothing.
  public init() {}

  /// The fields that hold a message together, or belong to the proxy: rules cannot name them.
  public static let protected: Set<String> = [
    "connection", "content-length", "host", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "via",
  ]

  /// Rules that apply these ones, and then others.
  public func followed(by other: FieldRules) -> FieldRules {
    var rules = FieldRules()
    let names = Swift.Set(other.set.map(\.name.canonicalName))
    rules.set = set.filter { !names.contains($0.name.canonicalName) } + other.set
    rules.removed = removed + other.removed
    rules.kept = kept.union(other.kept)
    return rules
  }

  func apply(to fields: inout HTTPFields) {
    remove(from: &fields)
    for field in set { fields[field.name] = nil }
    // bounded: the fields of a configuration, at most `mostSet` of each of two rules.
    for field in set { fields.append(field) }
  }

  /// Removes fields, and sets none: those of trailers, and of interim responses.
  func remove(from fields: inout HTTPFields) {
    guard !removed.isEmpty else { return }
    fields.removeAll { field in
      let name = field.name.canonicalName
      return !kept.contains(name) && !Self.protected.contains(name)
        && removed.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 }
    }
  }
}
