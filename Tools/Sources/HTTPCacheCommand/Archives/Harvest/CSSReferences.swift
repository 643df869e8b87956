/// The URLs that a style sheet refers to: `url(…)` and `@import "…"` (CSS Syntax 3 §4.3).
struct CSSReferences {
  private let bytes: [UInt8]
  private var place = 0
  private var found: [String] = []

  /// The references of a style sheet, in order, at most `DocumentURLs.most`.
  static func find(in text: String) -> [String] {
    var scanner = CSSReferences(bytes: Array(text.utf8))
    scanner.scan()
    return scanner.found
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func peek(_ distance: Int = 0) -> UInt8? {
    place + distance < bytes.count ? bytes[place + distance] : nil
  }

  private mutating func scan() {
    var isImport = false
    while let byte = peek(), found.count < DocumentURLs.most {
      switch byte {
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): skipComment()
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        let text = string(byte)
        if isImport, let text { found.append(text) }
        isImport = false
      case UInt8(ascii: "@"):
        place += 1
        isImport = name().lowercased() == "import"
      case UInt8(ascii: ";"), UInt8(ascii: "{"), UInt8(ascii: "}"):
        isImport = false
        place += 1
      case _ where Self.isName(byte):
        if name().lowercased() == "url", peek() == UInt8(ascii: "(") {
          place += 1
          url()
          isImport = false
        }
      default: place += 1
      }
    }
  }

  private static func isName(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "\\")
      || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }

  private mutating func skipComment() {
    place += 2
    while place < bytes.count, !(peek() == UInt8(ascii: "*") && peek(1) == UInt8(ascii: "/")) { place += 1 }
    place = min(place + 2, bytes.count)
  }

  private mutating func name() -> String {
    var text: [UInt8] = []
    while let byte = peek(), Self.isName(byte) {
      if byte == UInt8(ascii: "\\") { escape(into: &text) } else { take(into: &text) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func take(into text: inout [UInt8]) {
    text.append(bytes[place])
    place += 1
  }

  /// The string that begins here; nil if a line ends within it.
  private mutating func string(_ end: UInt8) -> String? {
    place += 1
    var text: [UInt8] = []
    while let byte = peek() {
      switch byte {
      case end:
        place += 1
        return String(decoding: text, as: UTF8.self)
      case 0x0A, 0x0D, 0x0C: return nil
      case UInt8(ascii: "\\"): escape(into: &text)
      default: take(into: &text)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func url() {
    skipSpace()
    if let quote = peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      if let text = string(quote) { found.append(text) }
      return
    }
    var text: [UInt8] = []
    while let byte = peek(), byte != UInt8(ascii: ")") {
      if byte == UInt8(ascii: "\\") { escape(into: &text) } else { take(into: &text) }
    }
    while let last = text.last, last <= 0x20 { text.removeLast() }
    if !text.isEmpty { found.append(String(decoding: text, as: UTF8.self)) }
  }

  private mutating func skipSpace() { while let byte = peek(), byte <= 0x20 { place += 1 } }

  /// An escaped character: up to six hexadecimal digits and one space, or any other character (§4.3.7).
  private mutating func escape(into text: inout [UInt8]) {
    place += 1
    var digits = ""
    while let byte = peek(), digits.count < 6, Character(Unicode.Scalar(byte)).isHexDigit {
      digits.append(Character(Unicode.Scalar(byte)))
      place += 1
    }
    if let value = UInt32(digits, radix: 16) {
      text.append(contentsOf: String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
      if let byte = peek(), byte <= 0x20 { place += 1 }
    } else if peek() == 0x0A {
      place += 1
    } else if place < bytes.count {
      take(into: &text)
    }
  }
}
