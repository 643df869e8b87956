import HTTPCacheSemantics
import HTTPTypes

extension HAREntry.Response {
  /// The fields that HTTP allows.
  var fields: HTTPFields { HAREntry.fields(headers ?? []) }
}

extension HAREntry.Request {
  /// The fields that HTTP allows.
  var fields: HTTPFields { HAREntry.fields(headers ?? []) }
}

extension HAREntry {
  fileprivate static func fields(_ pairs: [Pair]) -> HTTPFields {
    var fields: HTTPFields = [:]
    for pair in pairs {
      // The pseudo-header fields of HTTP/2, which browsers list, have no valid name.
      guard let name = HTTPField.Name(pair.name) else { continue }
      // Chromium joins the lines of a repeated field.
      for value in pair.value.split(whereSeparator: \.isNewline) where HTTPField.isValidValue(String(value)) {
        fields.append(HTTPField(name: name, value: String(value)))
      }
      if pair.value.isEmpty { fields.append(HTTPField(name: name, value: "")) }
    }
    return fields
  }

  /// Names and values of fields.
  static func pairs(_ fields: HTTPFields) -> [Pair] {
    fields.map { Pair(name: $0.name.rawName, value: $0.text) }
  }
}
