/// Text of others in a line of a log.
package enum LogText {
  /// Text that cannot end its line or steer a terminal: controls (C0, DEL and C1), controls of the writing direction, and
  /// line and paragraph separators become `\u009b`, as in JSON.
  static func line(_ text: String) -> String {
    text.unicodeScalars.contains(where: isUnsafe) ? escaped(text) { isUnsafe($0) } : text
  }

  /// Text as a JSON string (RFC 8259 §7), which cannot end its line or steer a terminal either.
  static func quoted(_ text: String) -> String {
    "\"\(escaped(text) { isUnsafe($0) || $0 == "\"" || $0 == "\\" })\""
  }

  /// Whether a character may change how the text around it is shown.
  package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value < 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return scalar.properties.isBidiControl
    }
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
