import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension HAREntry.Response {
  /// The fields that HTTP allows.
  ///
  /// - Throws: `CacheError.damaged` for more than `HTTPFields.countLimit`.
  var fields: HTTPFields { get throws(CacheError) { try HAREntry.fields(headers ?? []) } }
}

extension HAREntry.Request {
  /// The fields that HTTP allows.
  ///
  /// - Throws: `CacheError.damaged` for more than `HTTPFields.countLimit`.
  var fields: HTTPFields { get throws(CacheError) { try HAREntry.fields(headers ?? []) } }
}

extension HAREntry {
  fileprivate static func fields(_ pairs: [Pair]) throws(CacheError) -> HTTPFields {
    let tooMany = CacheError(.damaged, "a head of more than \(HTTPFields.countLimit) fields")
    var fields: HTTPFields = [:]
    for pair in pairs {
      // The pseudo-header fields of HTTP/2, which browsers list, have no valid name.
      guard let name = HTTPField.Name(pair.name) else { continue }
      // Chromium joins the lines of a repeated field.
      for value in pair.value.split(whereSeparator: \.isNewline) where HTTPField.isValidValue(String(value)) {
        guard fields.appendBounded(HTTPField(name: name, value: String(value))) else { throw tooMany }
      }
      if pair.value.isEmpty, !fields.appendBounded(HTTPField(name: name, value: "")) { throw tooMany }
    }
    return fields
  }

  /// Names and values of fields.
  static func pairs(_ fields: HTTPFields) -> [Pair] {
    fields.map { Pair(name: $0.name.rawName, value: $0.text) }
  }
}
