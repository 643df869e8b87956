/// The references to characters in HTML and XML. Entities that a document declares itself are never expanded: a few bytes
/// could stand for a gigabyte.
enum Entities {
  private static let names: [Substring: Character] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}",
  ]
  private static let longest = 10

  /// The text with the characters that its references stand for.
  ///
  /// - Parameter keepsUnknown: whether another reference stays as it is; otherwise the result is nil.
  static func decoded(_ text: String, keepsUnknown: Bool) -> String? {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    var (result, rest) = ("", text[...])
    while let start = rest.utf8.firstIndex(of: UInt8(ascii: "&")) {
      result += rest[..<start]
      rest = rest[rest.utf8.index(after: start)...]
      let name = rest.utf8.prefix(longest).prefix { $0 != UInt8(ascii: ";") }
      if name.endIndex < rest.endIndex, rest.utf8[name.endIndex] == UInt8(ascii: ";"),
        let character = character(Substring(name))
      {
        result.append(character)
        rest = rest[rest.utf8.index(after: name.endIndex)...]
      } else if keepsUnknown {
        result += "&"
      } else {
        return nil
      }
    }
    return result + rest
  }

  private static func character(_ name: Substring) -> Character? {
    guard name.first == "#" else { return names[name] }
    let digits = name.dropFirst()
    let value =
      digits.first == "x" || digits.first == "X"
      ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return value.flatMap { Unicode.Scalar($0) }.map { Character($0) }
  }
}
