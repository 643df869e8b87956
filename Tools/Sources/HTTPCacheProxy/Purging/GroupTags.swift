import HTTPTypes

/// The groups that `Surrogate-Key` (words between spaces) and `Cache-Tag` (words between commas) name.
enum GroupTags {
  private static let surrogateKey = HTTPField.Name("Surrogate-Key")
  private static let cacheTag = HTTPField.Name("Cache-Tag")

  /// The names in a message, each once. Names that no string of a structured field can have are left out
  /// (RFC 9651 §3.3.3).
  static func names(in fields: HTTPFields) -> [String] {
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
        guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), known.insert(name).inserted else {
          continue
        }
        names.append(name)
      }
    }
    return names
  }
}
