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
