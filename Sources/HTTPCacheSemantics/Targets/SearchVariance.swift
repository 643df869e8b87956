package import HTTPTypes
import RawStructuredFieldValues

/// The parts of a query that matter for a response: a URL variation config
/// (draft-ietf-httpbis-no-vary-search §4).
package struct SearchVariance: Sendable, Hashable {
  /// The query parameters that matter, by their decoded names in UTF-8.
  package enum Parameters: Sendable, Hashable {
    /// All but these ("no-vary params").
    case allBut(Set<[UInt8]>)
    /// Only these ("vary params").
    case only(Set<[UInt8]>)
  }

  /// The longest field that is read, in octets; a longer one counts as absent.
  package static let lengthLimit = 16_384

  package var parameters: Parameters
  /// Whether the order of parameters with different names matters.
  package var variesOnOrder: Bool

  /// Makes a variance; by default different queries are never equivalent.
  package init(parameters: Parameters = .allBut([]), variesOnOrder: Bool = true) {
    self.parameters = parameters
    self.variesOnOrder = variesOnOrder
  }

  /// Obtains the variance of a response (§5). A field that is absent, malformed or has members of wrong types
  /// gives the default.
  ///
  /// With `key-order` alone, only the order does not matter: the algorithm of §5.1 would return the default,
  /// but §1 and §6.1 use it in this way.
  package init(_ fields: HTTPFields) {
    self = Self.parsed(fields) ?? SearchVariance()
  }

  /// Whether it is the default: queries are equivalent only if they are spelt alike (§6).
  package var isDefault: Bool { variesOnOrder && parameters == .allBut([]) }

  private static func parsed(_ fields: HTTPFields) -> SearchVariance? {
    guard fields.contains(FieldNames.noVarySearch) else { return nil }
    let octets = fields.combinedOctets(FieldNames.noVarySearch)
    guard octets.count <= lengthLimit else { return nil }
    var parser = StructuredFieldValueParser(octets)
    guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
    var variance = SearchVariance()
    if let order = members["key-order"] {
      guard case .item(let item) = order, case .bool(let isMeaningless) = item.rfc9651BareItem else {
        return nil
      }
      variance.variesOnOrder = !isMeaningless
    }
    switch (members["params"], members["except"]) {
    case (nil, nil): break
    case (let list?, nil):
      guard let names = names(list) else { return nil }
      variance.parameters = .allBut(names)
    case (nil, let list?):
      guard let names = names(list) else { return nil }
      variance.parameters = .only(names)
    default: return nil
    }
    return variance
  }

  /// The keys of an inner list of strings (§5.3); nil for anything else.
  private static func names(_ member: ItemOrInnerList) -> Set<[UInt8]>? {
    guard case .innerList(let list) = member else { return nil }
    var names: Set<[UInt8]> = []
    for item in list.bareInnerList {
      guard case .string(let name) = item.rfc9651BareItem else { return nil }
      names.insert(FormParameter.decoded(Array(name.utf8)[...]))
    }
    return names
  }
}

extension SearchVariance {
  /// A target with the simplest query that is equivalent to its own: without parameters that do not matter,
  /// and sorted by name if the order does not matter (draft-ietf-httpbis-no-vary-search §7). Targets are equivalent
  /// (§6) if their canonical targets are equal. The canonical target of a canonical target is itself.
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
