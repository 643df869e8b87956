public import HTTPTypes
import RawStructuredFieldValues

/// Groups of responses of one origin (RFC 9875).
public enum CacheGroups {
  /// The maximum number of groups in one field; RFC 9875 §2 asks for at least 32.
  package static let countLimit = 256
  /// The longest field that is read, in octets.
  private static let lengthLimit = 16_384

  /// The groups that a response belongs to (§2).
  ///
  /// - Returns: an empty list for a field that is not a list of strings.
  public static func names(of response: HTTPResponse) -> [String] {
    strings(.cacheGroups, in: response.headerFields)
  }

  /// The value of `Cache-Groups` for some groups (§2).
  ///
  /// - Parameter names: visible ASCII and spaces alone (RFC 9651 §3.3.3).
  /// - Returns: nil if `names(of:)` would read none of them, because they are too many or too long.
  public static func fieldValue(of names: [String]) -> String? {
    let strings = names.map { name in
      "\"\(name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    let value = strings.joined(separator: ", ")
    return names.count <= countLimit && value.utf8.count <= lengthLimit ? value : nil
  }

  /// The groups that a response to an unsafe request invalidates (§3); empty for a safe method.
  package static func invalidated(request: HTTPRequest, response: HTTPResponse) -> [String] {
    request.method.isSafe ? [] : strings(.cacheGroupInvalidation, in: response.headerFields)
  }

  private static func strings(_ name: HTTPField.Name, in fields: HTTPFields) -> [String] {
    guard fields.firstIndex(of: name) != nil else { return [] }
    let value = fields.combinedOctets(name)
    guard value.count <= lengthLimit else { return [] }
    var parser = StructuredFieldValueParser(value)
    guard let members = try? parser.parseListFieldValue(), members.count <= countLimit else { return [] }
    var names: [String] = []
    for member in members {
      guard case .item(let item) = member, case .string(let name) = item.rfc9651BareItem else { return [] }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}
