/// Takes apart what curl's users write together and ArgumentParser does not read: `-sXPOST`, `-da=1`.
enum ShortOptions {
  private static let flags = Set("IJGLOSfiknqsv")
  private static let withValue = Set("AHTUXbdejmoruwx")

  /// The arguments of `get`, each short option on its own, its value after it.
  ///
  /// An argument after a long option may be its value and stays as it is. So does one with a letter that is no
  /// option, for ArgumentParser to report.
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

  /// Options, perhaps with the value of the last one, and whether that is still to come; nil where a letter is
  /// no option.
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
