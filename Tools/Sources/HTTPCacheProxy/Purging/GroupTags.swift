import HTTPTypes

/// The groups that `Surrogate-Key` (words between spaces) and `Cache-Tag` (words between commas) name.
enum GroupTags {
  private static let surrogateKey = HTTPField.Name("Surrogate-Key")
  private static let cacheTag = HTTPField.Name("Cache-Tag")

  /// Whether a message has one of the fields.
  static func areIn(_ fields: HTTPFields) -> Bool {
    fields.contains { $0.name == surrogateKey || $0.name == cacheTag }
  }

  /// The names in a message, each once; nil if one of them is no name of a group: a string of a structured field has
  /// visible ASCII alone (RFC 9651 §3.3.3).
  static func names(in fields: HTTPFields) -> [String]? {
    var names: [String] = []
    var known: Set<String> = []
    for field in fields {
      let separators: Set<Character>
      switch field.name {
      case surrogateKey: separators = [" ", "\t"]
      case cacheTag: separators = [",", " ", "\t"]
      default: continue
      }
      for name in field.value.split(whereSeparator: { separators.contains($0) }) {
        let name = String(name)
        guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        if known.insert(name).inserted { names.append(name) }
      }
    }
    return names
  }
}
