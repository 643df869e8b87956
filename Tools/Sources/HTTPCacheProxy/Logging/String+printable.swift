extension String {
  /// This text without characters that would let a response steer the terminal (`LogText.isUnsafe`): each of them but
  /// line feed and tab is replaced by U+FFFD.
  public var printable: String {
    func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
      scalar == "\n" || scalar == "\t" || !LogText.isUnsafe(scalar)
    }
    guard !unicodeScalars.allSatisfy(isPrintable) else { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars { text.append(isPrintable(scalar) ? scalar : "\u{FFFD}") }
    return String(text)
  }
}
