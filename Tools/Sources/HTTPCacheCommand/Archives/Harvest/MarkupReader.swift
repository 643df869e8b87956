import Foundation

/// Reads the elements of an HTML or XML document piece by piece.
///
/// The time is that of one pass, and memory is bounded, whatever the document is made of: there is no tree, an element
/// has a bounded number of attributes, and names and values have a bounded length. Declared entities are not expanded,
/// and nothing is fetched.
struct MarkupReader {
  enum Language {
    /// Names are in any case, and some elements have text without tags (HTML §13.2.5).
    case html
    /// Prefixes of element names do not count.
    case xml
  }

  enum Event: Equatable {
    /// A start tag. Names are in lower case.
    case start(String, attributes: [String: String])
    /// The text of one of the elements in `textOf`, at its end.
    case text(of: String, String)
  }

  static let longestName = 128
  static let mostAttributes = 64
  /// A longer value is left out, such as that of `src` with a picture in it.
  static let longestValue = 256 << 10
  /// The HTML elements whose text has no tags.
  private static let rawElements: Set<String> = [
    "script", "style", "textarea", "title", "xmp",
  ]
  /// The HTML elements within which a slash at the end of a start tag closes the element (HTML §13.2.6.5).
  private static let foreignElements: Set<String> = ["math", "svg"]

  private enum State {
    case text, tagStart, tagName, inTag, attributeName, afterName, beforeValue
    case value(quote: UInt8?)
    /// Markup that is passed over up to these last bytes.
    case skipped(until: UInt64, mask: UInt64)
    case cdata, declaration, rawText, rawEnd
  }

  /// Whether the document declares entities.
  private(set) var declaresEntities = false
  private let language: Language
  private let textOf: Set<String>
  private let longestText: Int
  private let charset: PageCharset
  private var state = State.text
  /// The last bytes, the latest in the lowest place.
  private var tail: UInt64 = 0
  private var name = LimitedBytes(limit: longestName)
  private var isEndTag = false
  private var attributes: [String: String] = [:]
  private var attributeName = LimitedBytes(limit: longestName)
  private var value = LimitedBytes(limit: longestValue)
  /// The element whose text is kept, and that text.
  private var collected: (element: String, text: LimitedBytes)?
  /// The number of open elements of `foreignElements`.
  private var foreignDepth = 0
  private var rawElement = ""
  private var rawMatch = 0
  private var declarationQuote: UInt8?
  private var isInSubset = false

  /// - Parameters:
  ///   - textOf: the elements whose text is reported.
  ///   - longestText: a longer text is left out.
  ///   - encoding: the name of the charset; nil is UTF-8.
  init(_ language: Language, textOf: Set<String>, longestText: Int, encoding: String? = nil) {
    self.language = language
    self.textOf = textOf
    self.longestText = longestText
    charset = PageCharset(encoding)
  }

  /// Reads the next bytes.
  mutating func read(_ bytes: some Sequence<UInt8>, _ visit: (Event) -> Void) {
    for byte in bytes {
      tail = tail << 8 | UInt64(byte)
      take(byte, visit)
    }
  }

  /// Ends the document: reports a text whose end tag is missing.
  mutating func finish(_ visit: (Event) -> Void) { endText(visit) }

  private mutating func take(_ byte: UInt8, _ visit: (Event) -> Void) {
    switch state {
    case .text:
      if byte == UInt8(ascii: "<") { state = .tagStart } else { collected?.text.append(byte) }
    case .tagStart: startTag(byte)
    case .tagName:
      if Self.isSpace(byte) || byte == UInt8(ascii: "/") { state = .inTag } else { nameByte(byte, visit) }
    case .inTag, .afterName: between(byte, visit)
    case .attributeName: attributeNameByte(byte, visit)
    case .beforeValue: beforeValue(byte, visit)
    case .value(let quote): valueByte(byte, quote: quote, visit)
    case .skipped(let until, let mask): if tail & mask == until { state = .text }
    case .cdata: cdata(byte)
    case .declaration: declaration(byte)
    case .rawText: rawText(byte)
    case .rawEnd: rawEnd(byte, visit)
    }
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }
}

// MARK: Tags

extension MarkupReader {
  private mutating func startTag(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "/"):
      (isEndTag, state) = (true, .tagName)
      name.removeAll()
    case UInt8(ascii: "!"):
      (declarationQuote, isInSubset, state) = (nil, false, .declaration)
    case UInt8(ascii: "?"):
      // HTML has no instructions: they end as a tag does (HTML §13.2.5.6).
      state =
        language == .xml
        ? .skipped(until: 0x3F3E, mask: 0xFFFF) : .skipped(until: 0x3E, mask: 0xFF)
    case _ where Self.isLetter(byte) || byte >= 0x80 || byte == UInt8(ascii: "_"):
      (isEndTag, state) = (false, .tagName)
      name.removeAll()
      name.append(byte)
    default:
      // Not a tag: a "<" in the text.
      collected?.text.append(UInt8(ascii: "<"))
      collected?.text.append(byte)
      state = byte == UInt8(ascii: "<") ? .tagStart : .text
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private mutating func nameByte(_ byte: UInt8, _ visit: (Event) -> Void) {
    if byte == UInt8(ascii: ">") { endTag(visit) } else { name.append(byte) }
  }

  private mutating func between(_ byte: UInt8, _ visit: (Event) -> Void) {
    if Self.isSpace(byte) { return }
    switch byte {
    case UInt8(ascii: "/"): break
    case UInt8(ascii: ">"): endTag(visit)
    case UInt8(ascii: "="): state = .beforeValue
    default:
      attributeName.removeAll()
      attributeName.append(byte)
      state = .attributeName
    }
  }

  private mutating func attributeNameByte(_ byte: UInt8, _ visit: (Event) -> Void) {
    switch byte {
    case UInt8(ascii: "="): state = .beforeValue
    case UInt8(ascii: "/"), UInt8(ascii: ">"): between(byte, visit)
    case _ where Self.isSpace(byte): state = .afterName
    default: attributeName.append(byte)
    }
  }

  private mutating func beforeValue(_ byte: UInt8, _ visit: (Event) -> Void) {
    if Self.isSpace(byte) { return }
    value.removeAll()
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .value(quote: byte)
    case UInt8(ascii: ">"): endTag(visit)
    default:
      value.append(byte)
      state = .value(quote: nil)
    }
  }

  private mutating func valueByte(_ byte: UInt8, quote: UInt8?, _ visit: (Event) -> Void) {
    let isEnd = quote.map { byte == $0 } ?? (Self.isSpace(byte) || byte == UInt8(ascii: ">"))
    guard isEnd else { return value.append(byte) }
    endAttribute()
    state = .inTag
    guard quote == nil else { return }
    // A slash at the end of a value without quotes closes no element (HTML §13.2.5.37).
    tail = UInt64(byte)
    between(byte, visit)
  }

  private mutating func endAttribute() {
    guard attributes.count < Self.mostAttributes, let name = attributeName.bytes, let value = value.bytes
    else { return }
    let key = charset.text(name).lowercased()
    guard attributes[key] == nil else { return }
    let text = charset.text(value)
    attributes[key] = Entities.decoded(text, keepsUnknown: true)
  }

  private mutating func endTag(_ visit: (Event) -> Void) {
    defer { attributes.removeAll(keepingCapacity: true) }
    state = .text
    guard let bytes = name.bytes else { return }
    var element = charset.text(bytes).lowercased()
    if language == .xml { element = element.split(separator: ":").last.map(String.init) ?? element }
    if isEndTag {
      if collected?.element == element { endText(visit) }
      if Self.foreignElements.contains(element) { foreignDepth = max(0, foreignDepth - 1) }
      return
    }
    visit(.start(element, attributes: attributes))
    if textOf.contains(element) { collected = (element, LimitedBytes(limit: longestText)) }
    let isForeign = Self.foreignElements.contains(element)
    if tail & 0xFFFF == 0x2F3E, language == .xml || isForeign || foreignDepth > 0 {
      // An empty element ends at once.
      if collected?.element == element { endText(visit) }
    } else if language == .html {
      if isForeign { foreignDepth += 1 }
      if Self.rawElements.contains(element) { (rawElement, state) = (element, .rawText) }
    }
  }

  private mutating func endText(_ visit: (Event) -> Void) {
    guard let (element, text) = collected else { return }
    collected = nil
    guard let bytes = text.bytes else { return }
    let string = charset.text(bytes)
    guard let decoded = language == .html ? string : Entities.decoded(string, keepsUnknown: false) else {
      return
    }
    visit(.text(of: element, decoded))
  }
}

// MARK: Text without tags, and declarations

extension MarkupReader {
  private mutating func rawText(_ byte: UInt8) {
    guard byte == UInt8(ascii: "<") else { return collect(byte) }
    (rawMatch, state) = (1, .rawEnd)
  }

  /// Reads what may be the end tag of an element with text without tags.
  private mutating func rawEnd(_ byte: UInt8, _ visit: (Event) -> Void) {
    let expected = Array("</\(rawElement)".utf8)
    if rawMatch < expected.count, byte | (Self.isLetter(byte) ? 0x20 : 0) == expected[rawMatch] {
      rawMatch += 1
    } else if rawMatch == expected.count,
      Self.isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
    {
      isEndTag = true
      name.removeAll()
      for byte in rawElement.utf8 { name.append(byte) }
      state = .inTag
      between(byte, visit)
    } else {
      for byte in expected[..<rawMatch] { collect(byte) }
      state = .rawText
      rawText(byte)
    }
  }

  private mutating func collect(_ byte: UInt8) { collected?.text.append(byte) }

  /// Reads `<![CDATA[…]]>`, whose text has neither tags nor entities.
  private mutating func cdata(_ byte: UInt8) {
    if byte == UInt8(ascii: "&") {
      for byte in "&amp;".utf8 { collect(byte) }
    } else {
      collect(byte)
    }
    guard tail & 0xFF_FFFF == 0x5D_5D3E else { return }
    collected?.text.removeLast(3)
    state = .text
  }

  /// Reads what follows `<!`: a comment, CDATA, or a declaration with an internal subset.
  private mutating func declaration(_ byte: UInt8) {
    if let quote = declarationQuote {
      if byte == quote { declarationQuote = nil }
      return
    }
    if tail & 0xFFFF_FFFF == 0x3C21_2D2D {
      // "<!-->" is a whole comment (HTML §13.2.5.44).
      if language == .html { tail = 0x2D2D }
      state = isInSubset ? state : .skipped(until: 0x2D_2D3E, mask: 0xFF_FFFF)
    } else if language == .xml, tail == 0x215B_4344_4154_415B {
      state = .cdata
    } else if language == .xml, tail & 0xFFFF_FFFF_FFFF == 0x454E_5449_5459 {
      declaresEntities = true
    }
    guard case .declaration = state else { return }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): if language == .xml { declarationQuote = byte }
    case UInt8(ascii: "["): if language == .xml { isInSubset = true }
    case UInt8(ascii: "]"): isInSubset = false
    case UInt8(ascii: ">"): if !isInSubset { state = .text }
    default: break
    }
  }
}
