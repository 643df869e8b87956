import HTTPTypes

extension Vary {
  /// The names that `Vary` of a response lists, without those that overrides ignore.
  static func listedNames(of response: HTTPResponse, rules: CacheRules) -> Names {
    let names = names(in: response.headerFields)
    guard let applied = rules.applied, applied.ignoresVary else { return names }
    switch names {
    case .malformed: return .malformed
    case .any: return ignored(of: response, rules: rules).isAny ? .names([]) : .any
    case .names(let names):
      let ignored = ignored(of: response, rules: rules)
      return .names(names.filter { !ignored.contains($0) })
    }
  }

  /// The nominated fields of a stored response, without those that overrides ignore.
  static func listedNominated(
    of stored: StoredResponse, rules: CacheRules
  ) -> [NominatedField] {
    guard let applied = rules.applied, applied.ignoresVary, !stored.nominated.isEmpty else {
      return stored.nominated
    }
    let ignored = ignored(of: stored.head, rules: rules)
    return stored.nominated.filter { !ignored.contains($0.name) }
  }

  private struct Ignored {
    var names: Set<HTTPField.Name> = []
    var isAll = false
    var mayShare = true
    /// The names that other readings of the target ignore.
    var others: [Ignored] = []

    var isAny: Bool { isAll && mayShare && others.allSatisfy(\.isAny) }

    func contains(_ name: HTTPField.Name) -> Bool {
      (isAll || names.contains(name)) && (mayShare || !FieldHygiene.isCredential(name))
        && others.allSatisfy { $0.contains(name) }
    }
  }

  private static func ignored(of response: HTTPResponse, rules: CacheRules) -> Ignored {
    var ignored = ignoredByOwn(rules, of: response)
    ignored.others = rules.otherReadings.map { ignoredByOwn($0, of: response) }
    return ignored
  }

  private static func ignoredByOwn(_ rules: CacheRules, of response: HTTPResponse) -> Ignored {
    var ignored = Ignored()
    ignored.mayShare = ResponseDirectives.unprotected(response, rules: rules).contains(.vary)
    rules.forEachEffect(on: response) { effect in
      guard case .ignoringVary(let names) = effect else { return }
      if names.isEmpty { ignored.isAll = true } else { ignored.names.formUnion(names) }
    }
    return ignored
  }
}
