/// Text of others in a line of a log.
package enum LogText {
  /// Text that cannot end its line or steer a terminal: controls (C0, DEL and C1), controls of the writing direction, and
  /// line and paragraph separators become `\u009b`, as in JSON.
  static func line(_ text: String) -> String {
    isPlain(text) || !text.unicodeScalars.contains(where: isUnsafe) ? text : escaped(text) { isUnsafe($0) }
  }

  /// Text as a JSON string (RFC 8259 §7), which cannot end its line or steer a terminal either.
  static func quoted(_ text: String) -> String {
    guard !isPlain(text) else { return "\"\(text)\"" }
    return "\"\(escaped(text) { isUnsafe($0) || $0 == "\"" || $0 == "\\" })\""
  }

  /// Whether a text has only visible ASCII characters and spaces, and none that JSON escapes: most do.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }

  /// Whether a character may change how the text around it is shown.
  package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value < 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return scalar.properties.isBidiControl
    }
  }

  /// A text that may have a URL, for a message: without user and password. Also hides them where the URL is not valid, such
  /// as one with a `/` in the password.
  package static func hidingCredentials(_ text: String) -> String {
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")), start < at,
      text.utf8[..<at].contains(UInt8(ascii: ":"))
    else { return text }
    return "\(text[..<start])…\(text[at...])"
  }

  private static func escaped(_ text: String, _ isEscaped: (Unicode.Scalar) -> Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      if !isEscaped(scalar) {
        escaped.unicodeScalars.append(scalar)
      } else if scalar == "\"" || scalar == "\\" {
        escaped += "\\\(scalar)"
      } else {
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      }
    }
    return escaped
  }
}

extension String {
  /// This text within a screen, for a message that may quote a file or an origin: at most 2,000 characters in 24 lines. The
  /// middle of a longer text is left out, since both ends tell what failed.
  public var bounded: String {
    let (most, mostLines, end) = (2_000, 24, 500)
    var text = self
    if utf8.count > most, unicodeScalars.count > most {
      text = String(unicodeScalars.prefix(most - end - 1)) + "…" + String(unicodeScalars.suffix(end))
    }
    let lines = text.split(separator: "\n", maxSplits: mostLines, omittingEmptySubsequences: false)
    guard lines.count > mostLines else { return text }
    return lines.prefix(mostLines - 1).joined(separator: "\n") + "\n…"
  }

  /// The start of a value that a message quotes.
  public var quoted: String { unicodeScalars.count > 80 ? String(unicodeScalars.prefix(80)) + "…" : self }
}

extension String {
  /// This text without characters that would let a response steer the terminal (`LogText.isUnsafe`): each of them but
  /// line feed and tab is replaced by U+FFFD.
  public var printable: String { printable(allowing: ["\n", "\t"]) }

  /// This text in one line, without such characters: for a value within a line.
  public var printableInLine: String { printable(allowing: []) }

  private func printable(allowing allowed: [Unicode.Scalar]) -> String {
    func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
      allowed.contains(scalar) || !LogText.isUnsafe(scalar)
    }
    guard !unicodeScalars.allSatisfy(isPrintable) else { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars { text.append(isPrintable(scalar) ? scalar : "\u{FFFD}") }
    return String(text)
  }
}
