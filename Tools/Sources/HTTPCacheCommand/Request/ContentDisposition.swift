import Foundation
import HTTPCaching

/// The name of a file in `Content-Disposition` (RFC 6266).
enum ContentDisposition {
  /// The name, made safe; nil if there is none. `filename*` has priority over `filename`.
  static func fileName(_ fields: HTTPFields) -> String? {
    guard let name = HTTPField.Name("Content-Disposition"), let value = fields[name] else { return nil }
    let parameters = parameters(value)
    let given = parameters["filename*"].flatMap(decoded) ?? parameters["filename"]
    // Folders in the origin's name are dropped (RFC 6266 §4.3).
    guard let last = given?.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else { return nil }
    return FileName.safe(name: String(last))
  }

  /// Decodes `charset'language'percent-encoded` (RFC 8187 §3.2); nil unless the charset is UTF-8.
  private static func decoded(_ value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
    return String(parts[2]).removingPercentEncoding.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func parameters(_ value: String) -> [String: String] {
    var parameters: [String: String] = [:]
    var rest = value.drop { $0 != ";" }
    while rest.popFirst() != nil {
      let name = rest.prefix { $0 != "=" && $0 != ";" }
      rest = rest.dropFirst(name.count)
      guard rest.first == "=" else { continue }
      rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
      var text = ""
      if rest.first == "\"" {
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
          text.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
      } else {
        text = String(rest.prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces)
      }
      // Of several, the first one counts, as for curl.
      let key = name.trimmingCharacters(in: .whitespaces).lowercased()
      if parameters[key] == nil { parameters[key] = text }
      rest = rest.drop { $0 != ";" }
    }
    return parameters
  }
}
