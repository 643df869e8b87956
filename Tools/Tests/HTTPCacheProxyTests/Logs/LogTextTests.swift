import Foundation
import Testing

@testable import HTTPCacheProxy

@Suite("Text of others in a log", .timeLimit(.minutes(10))) struct LogTextTests {
  /// C0, DEL, C1, line and paragraph separators, and the controls of the writing direction.
  private static let unsafe: [Unicode.Scalar] = [
    "\0", "\t", "\n", "\r", "\u{1B}", "\u{7F}", "\u{80}", "\u{85}", "\u{9B}", "\u{9F}", "\u{2028}",
    "\u{2029}",
    "\u{200E}", "\u{200F}", "\u{061C}", "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}",
  ]

  @Test("controls, separators and writing directions are escaped in every format", arguments: unsafe)
  func escaped(_ scalar: Unicode.Scalar) throws {
    let text = "a\(scalar)b"
    #expect(text.printableInLine == "a\u{FFFD}b")
    for line in [LogText.line(text), LogText.quoted(text)] {
      #expect(!line.unicodeScalars.contains(scalar) && line.contains("\\u"))
    }
    var entry = AccessLog.Entry(
      client: "c", method: text, target: text, status: 200, bytes: 0, microseconds: 0, outcome: "hit",
      refusal: text)
    entry.fields = [text, text]
    for format in [
      AccessLog.Format.plain, .json, .template(.combined), .template(try LogTemplate("%r %m %U")),
    ] {
      let line = AccessLog.render(entry, at: .zero, format)
      #expect(!line.dropLast().unicodeScalars.contains(scalar))
    }
  }

  @Test("other text stays; quotes are escaped in JSON")
  func kept() {
    #expect(LogText.line("/ä?\"b\\") == "/ä?\"b\\")
    #expect(LogText.quoted("ä\"b\\") == "\"ä\\\"b\\\\\"")
    #expect(LogText.line("\u{9B}31m") == "\\u009b31m")
  }
}
