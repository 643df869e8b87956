/// An option of `serve` as a configuration file gives it.
struct ServeOption {
  let key: ServeKey
  /// As on a command line.
  let arguments: [String]
  let line: Int?
  /// The line of each argument.
  private let lines: [Int?]

  /// - Throws: `ConfigFailure` for a value that the key cannot have.
  init(_ key: ServeKey, _ value: ConfigValue) throws(ConfigFailure) {
    self.key = key
    arguments = try key.arguments(value)
    line = value.line
    lines = value.elements.map(\.line)
  }

  /// The value that a message names, the longest of several, and its line; nil if the message names none.
  func value(in message: String) -> (text: Substring, line: Int?)? {
    var found: (text: Substring, line: Int?)?
    for (argument, line) in zip(arguments, lines) {
      let text = argument.drop { $0 != "=" }.dropFirst()
      guard text.utf8.count > found?.text.utf8.count ?? 0, message.contains(text) else { continue }
      found = (text, line)
    }
    return found
  }

  /// The line that a message about this option concerns.
  func line(of message: String) -> Int? { value(in: message)?.line ?? line }
}
