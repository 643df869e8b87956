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
    let item: RFC9651BareItem? =
      if case .item(let item) = member { item.rfc9651BareItem } else { nil }
    switch key {
    case "max-age": return consume(item, \.maxAge, malformed: .malformedMaxAge)
    case "s-maxage":
      guard consume(item, \.sMaxAge, malformed: .malformedSMaxAge) else { return false }
      flags.insert(.sMaxAge)
      return true
    case "stale-while-revalidate": return consume(item, \.staleWhileRevalidate)
    case "stale-if-error": return consume(item, \.staleIfError)
    case "no-cache": return consume(item, \.noCache, .noCache)
    case "private": return consume(item, \.private, .private)
    case "no-store":
      guard case .bool(true) = item else { return false }
      noStore = true
      return true
    case "no-transform":
      guard case .bool(true) = item else { return false }
      noTransform = true
      return true
    case "must-revalidate": return consume(item, .mustRevalidate)
    case "proxy-revalidate": return consume(item, .proxyRevalidate)
    case "must-understand": return consume(item, .mustUnderstand)
    case "immutable": return consume(item, .immutable)
    case "public": return consume(item, .public)
    default: return true
    }
  }

  private mutating func consume(
    _ item: RFC9651BareItem?, _ seconds: WritableKeyPath<Self, Int64?>,
    malformed mark: ReuseFacts.Directives? = nil
  ) -> Bool {
    guard case .integer(let value) = item else { return false }
    if value >= 0 {
      self[keyPath: seconds] = min(value, greatestDeltaSeconds)
    } else if let mark {
      // Not `delta-seconds` (RFC 9111 §1.2.2): the response is stale, and has no lifetime that permits storing.
      self[keyPath: seconds] = 0
      flags.insert(mark)
    }
    return true
  }

  private mutating func consume(
    _ item: RFC9651BareItem?, _ flag: ReuseFacts.Directives
  ) -> Bool {
    guard case .bool(true) = item else { return false }
    flags.insert(flag)
    return true
  }

  private mutating func consume(
    _ item: RFC9651BareItem?, _ scope: WritableKeyPath<Self, Scope>, _ flag: ReuseFacts.Directives
  ) -> Bool {
    switch item {
    case .bool(true): restrict(scope, flag: flag, to: [])
    case .string(var names):
      let list = names.withUTF8 { Self.fieldNames(in: $0) }
      restrict(scope, flag: flag, to: list)
    default: return false
    }
    return true
  }
}
