import HTTPCaching

/// The start of an XML document, up to its root element (XML 1.0 §2.8). SVG has no other signature than this element.
struct SVGProlog {
  /// The number of bytes in which the root element must begin. Drawing programs write entities and licenses before it.
  private static let lookAhead = 16 << 10

  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether bytes are an SVG document: in UTF-8, with the root element `svg`.
  static func isSVG(_ bytes: BodyBytes) -> Bool {
    var prolog = SVGProlog(bytes.prefix(lookAhead).array)
    return prolog.hasRoot()
  }

  private mutating func hasRoot() -> Bool {
    // The byte order mark.
    _ = skip("\u{FEFF}")
    while true {
      skipSpace()
      if skip("<?") {
        guard skip(past: "?>") else { return false }
      } else if skip("<!--") {
        guard skip(past: "-->") else { return false }
      } else if skip("<!DOCTYPE") {
        guard skipDocumentType() else { return false }
      } else {
        guard skip("<svg"), position < bytes.count else { return false }
        // The name ends here, or is a prefix.
        return Self.isSpace(bytes[position]) || ">/:".utf8.contains(bytes[position])
      }
    }
  }

  /// Passes over a document type declaration, and its internal subset.
  ///
  /// - Returns: false if the declaration is not one of `svg`, or has no end.
  private mutating func skipDocumentType() -> Bool {
    skipSpace()
    guard skip("svg") else { return false }
    var isInSubset = false
    while position < bytes.count {
      if skip("<!--") {
        guard skip(past: "-->") else { return false }
        continue
      }
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "'"):
        guard skip(past: "'") else { return false }
      case UInt8(ascii: "\""):
        guard skip(past: "\"") else { return false }
      case UInt8(ascii: "["): isInSubset = true
      case UInt8(ascii: "]"): isInSubset = false
      case UInt8(ascii: ">"):
        if !isInSubset { return true }
      default: break
      }
    }
    return false
  }

  private static func isSpace(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }

  private mutating func skipSpace() {
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
  }

  /// Passes over a text.
  ///
  /// - Returns: false if the next bytes are others.
  private mutating func skip(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  /// Passes over all bytes up to the end of a text.
  ///
  /// - Returns: false if the text does not come.
  private mutating func skip(past text: String) -> Bool {
    while position < bytes.count {
      if skip(text) { return true }
      position += 1
    }
    return false
  }
}
