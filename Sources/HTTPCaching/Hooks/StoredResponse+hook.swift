import HTTPCacheSemantics
import HTTPTypes

extension StoredResponse {
  /// The response with the head that a hook returned, except for changes that would make an answer wrong: see
  /// `ProposedRecord`.
  func changed(by proposed: HTTPResponse, rules: CacheRules) -> StoredResponse {
    var fields = proposed.headerFields
    let original = head.headerFields
    let found = rules.alias.map { [$0] } ?? []
    for name in HTTPField.Name.fixedWhenStored + found { fields[fields: name] = original[fields: name] }
    for name in HTTPField.Name.evidence where fields.contains(name) {
      fields[fields: name] = original[fields: name]
    }
    var result = self
    result.head.headerFields = fields
    result.head = FieldHygiene.storable(result.head, rules: rules)
    result.facts = Freshness.facts(
      response: result.head, requestTime: requestTime, responseTime: responseTime, rules: rules)
    return result
  }
}

extension HTTPField.Name {
  /// Fields that decide how a response is found, describe its body, or tell its age.
  fileprivate static let fixedWhenStored: [HTTPField.Name] =
    [.vary, .contentLength, .contentRange, .contentEncoding, .transferEncoding, .date, .age]
    + ["No-Vary-Search"].compactMap { HTTPField.Name($0) }

  /// Fields that tell one representation from another.
  fileprivate static let evidence: [HTTPField.Name] =
    [.eTag, .lastModified]
    + ["Repr-Digest", "Content-Digest", "Content-MD5"].compactMap { HTTPField.Name($0) }
}
