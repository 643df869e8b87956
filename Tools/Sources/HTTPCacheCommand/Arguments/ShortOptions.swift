/// Splits combined short options, which curl allows and ArgumentParser does not read: `-sXPOST`, `-da=1`.
enum ShortOptions {
  private static let flags = Set("IJGLORSfiknqsv")
  private static let withValue = Set("AHTUXbcdejmoruwx")

  /// The arguments of `get`, each short option on its own, its value after it.
  ///
  /// An argument after a long option may be its value and is not split. An argument with a letter that is not an
  /// option is not split either, so that ArgumentParser reports it.
  static func split(_ arguments: [String]) -> [String] {
    guard arguments.first == "get" else { return arguments }
    var result: [String] = []
    var isValue = false
    for (index, argument) in arguments.enumerated() {
      if argument == "--" { return result + arguments[index...] }
      let isOption = !isValue && argument.hasPrefix("-") && argument.count > 1
      isValue = false
      guard isOption, !argument.hasPrefix("--") else {
        isValue = isOption && !argument.contains("=")
        result.append(argument)
        continue
      }
      let (parts, wantsValue) = parts(of: argument.dropFirst()) ?? ([argument], false)
      result += parts
      isValue = wantsValue
    }
    return result
  }

  /// The options, with the value of the last one if it is there, and whether that value is the next argument.
  /// nil if a letter is not an option.
  private static func parts(of letters: Substring) -> (parts: [String], wantsValue: Bool)? {
    var parts: [String] = []
    var rest = letters
    while let letter = rest.popFirst() {
      if withValue.contains(letter) {
        parts.append("-\(letter)")
        return rest.isEmpty ? (parts, true) : (parts + [String(rest)], false)
      }
      guard flags.contains(letter) else { return nil }
      parts.append("-\(letter)")
    }
    return (parts, false)
  }
}
