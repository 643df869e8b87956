import HTTPTypes
import RawStructuredFieldValues

extension ResponseDirectives {
  /// The longest targeted field that is parsed, in octets.
  private static let targetedLimit = 16_384

  /// Reads one targeted field (RFC 9213 §2.1); nil if it is absent, empty or not a valid dictionary, which
  /// all count as absent.
  ///
  /// Members of the wrong type are ignored. A field with only such members counts as empty.
  init?(targetedField name: String, in fields: HTTPFields) {
    guard let fieldName = HTTPField.Name(name) else { return nil }
    let value = fields.combinedOctets(fieldName)
    guard !value.isEmpty, value.count <= Self.targetedLimit else { return nil }
    var parser = StructuredFieldValueParser(value)
    guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
    self.init()
    source = .targeted(fieldName.canonicalName)
    var isEmpty = true
    for (key, member) in members where consume(key, member) { isEmpty = false }
    if isEmpty { return nil }
  }

  /// Applies one member; false if its type is not the directive's. Unknown members are ignored, but make the
  /// field non-empty.
  private mutating func consume(_ key: String, _ member: ItemOrInnerList) -> Bool {
    guard let directive = ResponseDirective(named: key) else { return true }
    guard case .item(let item) = member,
      let argument = DirectiveArgument(item.rfc9651BareItem, as: directive.argument)
    else { return false }
    apply(directive, argument)
    return true
  }
}

extension DirectiveArgument {
  /// Reads a member of a targeted field; nil if its type is of another kind.
  fileprivate init?(_ item: RFC9651BareItem, as kind: Kind) {
    switch (kind, item) {
    case (.nothing, .bool(true)), (.fieldNames, .bool(true)): self = .none
    case (.fieldNames, .string(var names)): self = .init(names: names.withUTF8 { Self.names(in: $0) })
    // A negative number is not `delta-seconds` (RFC 9111 §1.2.2).
    case (.seconds, .integer(let value)):
      self = value < 0 ? .malformed : .seconds(min(value, greatestDeltaSeconds))
    case (.nothing, _), (.fieldNames, _), (.seconds, _): return nil
    }
  }
}
