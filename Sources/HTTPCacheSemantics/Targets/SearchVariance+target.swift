extension SearchVariance {
  /// A target with the simplest query that is equivalent to its own: without parameters that do not matter,
  /// and sorted by name if the order does not matter (draft-ietf-httpbis-no-vary-search §7). The canonical
  /// target of a canonical target is itself.
  ///
  /// - Parameter target: a normalised target URI.
  package func canonical(_ target: String) -> String {
    if isDefault { return target }
    let parameters = significant(target)
    var output = Array(Self.path(of: target).utf8)
    for (index, parameter) in parameters.enumerated() {
      output.append(index == 0 ? UInt8(ascii: "?") : UInt8(ascii: "&"))
      parameter.append(to: &output)
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Whether two normalised target URIs are equivalent modulo this variance (§6).
  package func areEquivalent(_ first: String, _ second: String) -> Bool {
    if isDefault { return first == second }
    return Self.path(of: first) == Self.path(of: second) && significant(first) == significant(second)
  }

  /// A target without its query.
  package static func path(of target: String) -> String {
    target.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(target[..<$0]) } ?? target
  }

  private func significant(_ target: String) -> [FormParameter] {
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
    var list = FormParameter.list(target.utf8[target.utf8.index(after: mark)...])
    switch parameters {
    case .allBut(let names): list.removeAll { names.contains($0.name) }
    case .only(let names): list.removeAll { !names.contains($0.name) }
    }
    if variesOnOrder { return list }
    // The order of parameters with equal names always matters.
    return list.enumerated().sorted { first, second in
      first.element.name == second.element.name
        ? first.offset < second.offset
        : first.element.name.lexicographicallyPrecedes(second.element.name)
    }.map(\.element)
  }
}
