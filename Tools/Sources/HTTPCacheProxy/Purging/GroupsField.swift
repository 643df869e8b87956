import HTTPCacheSemantics
import HTTPTypes

/// `Cache-Groups` of responses: a list of strings (RFC 9875 §2).
enum GroupsField {
  /// The most groups that the cache reads, and the most bytes of the field.
  private static let (mostGroups, mostBytes) = (256, 16_384)

  /// The groups of a response, each once; empty if the field is no list of strings (RFC 9651 §4.2). Too many may be left
  /// out, because they do not fit into a field again.
  static func groups(in fields: HTTPFields) -> [String] {
    var rest = fields[values: .cacheGroups].joined(separator: ",")[...]
    var groups: [String] = []
    while groups.count <= mostGroups {
      rest = trimmed(rest)
      guard let group = string(&rest) else { return [] }
      if !groups.contains(group) { groups.append(group) }
      skipParameters(&rest)
      rest = trimmed(rest)
      guard let next = rest.popFirst() else { return groups }
      guard next == "," else { return [] }
    }
    return groups
  }

  /// The field for some groups; nil if the cache would read none of them.
  static func value(_ groups: [String]) -> String? {
    let value = groups.map { "\"\(escaped($0))\"" }.joined(separator: ", ")
    return groups.count <= mostGroups && value.utf8.count <= mostBytes ? value : nil
  }

  private static func escaped(_ name: String) -> String {
    name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }

  private static func trimmed(_ text: Substring) -> Substring { text.drop { $0 == " " || $0 == "\t" } }

  /// Takes a string from the begin of some text; nil if there is none.
  private static func string(_ text: inout Substring) -> String? {
    guard text.popFirst() == "\"" else { return nil }
    var string = ""
    while let next = text.popFirst() {
      switch next {
      case "\"": return string
      case "\\":
        guard let escaped = text.popFirst(), escaped == "\"" || escaped == "\\" else { return nil }
        string.append(escaped)
      default:
        guard let octet = next.asciiValue, (0x20...0x7E).contains(octet) else { return nil }
        string.append(next)
      }
    }
    return nil
  }

  /// Skips the parameters of a string, which have no meaning for groups.
  private static func skipParameters(_ text: inout Substring) {
    while text.first == ";" {
      text = text.dropFirst().drop { !",;\"".contains($0) }
      if text.first == "\"" { _ = string(&text) }
    }
  }
}
