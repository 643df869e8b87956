import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// How the text of a recorded body stands for its bytes.
enum HARTextForm: Sendable, Equatable {
  /// The text itself, in UTF-8.
  case text
  case base64
  /// Two digits for each byte, as Polly.js writes binary bodies before its version 6.
  case hex
  /// A JSON list of strings, each a piece of the body in its content coding, as Polly.js writes it: in hex or Base64.
  indirect case pieces(HARTextForm)

  /// The bytes of a text that tell its form.
  static let startLength = 64

  /// The form of the text of a body.
  ///
  /// - Parameters:
  ///   - start: the first bytes of the text, which may be empty.
  ///   - coding: the content coding that the fields of the response name.
  /// - Throws: `CacheError.damaged` for an encoding that is not read.
  init(_ content: HAREntry.Content, start: [UInt8], coding: String?) throws(CacheError) {
    let encoded: HARTextForm
    switch content.encoding?.lowercased() ?? "" {
    case "base64": encoded = .base64
    case "hex": encoded = .hex
    case "", "utf-8", "utf8": encoded = content.isBinary == true ? .hex : .text
    default:
      let name = content.encoding?.prefix(40) ?? ""
      throw CacheError(.damaged, "the encoding '\(name)' of the text is not read")
    }
    if encoded == .text {
      // The oldest versions of Polly.js mark neither form. A decoded text that begins so would not be in gzip twice.
      let isGzip = ["gzip", "x-gzip"].contains(coding?.lowercased())
      self = isGzip && Self.beginsMember(start) ? .pieces(.hex) : .text
    } else {
      // Neither hex nor Base64 has brackets.
      self = start.first == UInt8(ascii: "[") ? .pieces(encoded) : encoded
    }
  }

  /// Whether a text begins like a list of pieces, in hex, of a gzip member. The first piece may be a single byte.
  private static func beginsMember(_ start: [UInt8]) -> Bool {
    let marks = "[]\", ".utf8
    return start.first == UInt8(ascii: "[")
      && start.filter { $0.hexValue != nil }.starts(with: "1f8b".utf8)
      && start.allSatisfy { $0.hexValue != nil || marks.contains($0) }
  }

  /// Whether the text has the body in its content coding.
  var isCoded: Bool { if case .pieces = self { true } else { false } }
}

/// Turns the text of a body into its bytes, piece by piece.
struct HARTextDecoder {
  private let form: HARTextForm
  private var base64 = Base64Pieces()
  private var hex = HexPieces()
  private var list = ListedTexts()

  init(_ form: HARTextForm) { self.form = form }

  /// - Parameter isLast: whether the text ends with this piece.
  /// - Throws: `CacheError.damaged` if the text is not in this form.
  mutating func decode(_ piece: [UInt8], isLast: Bool) throws(CacheError) -> [UInt8] {
    guard case .pieces(let inner) = form else { return try decode(piece, in: form, isLast: isLast) }
    var output: [UInt8] = []
    for part in try list.parts(of: piece, isLast: isLast) {
      output += try decode(part.bytes, in: inner, isLast: part.isEnd)
    }
    return output
  }

  private mutating func decode(
    _ piece: [UInt8], in form: HARTextForm, isLast: Bool
  ) throws(CacheError) -> [UInt8] {
    switch form {
    case .text, .pieces: piece
    case .base64: try base64.decode(piece, isLast: isLast)
    case .hex: try hex.decode(piece, isLast: isLast)
    }
  }
}

/// Decodes hex piece by piece; line breaks and spaces are ignored.
private struct HexPieces {
  private var high: UInt8?

  mutating func decode(_ piece: [UInt8], isLast: Bool) throws(CacheError) -> [UInt8] {
    let damaged = CacheError(.damaged, "the text is not hex")
    var output: [UInt8] = []
    output.reserveCapacity(piece.count / 2 + 1)
    for byte in piece where byte > 0x20 {
      guard let digit = byte.hexValue else { throw damaged }
      if let first = high {
        output.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    if isLast, high != nil { throw damaged }
    return output
  }
}

/// Takes the strings of a JSON list apart, piece by piece. They are of digits: an escape in them is damage.
private struct ListedTexts {
  private enum Place {
    case start
    case beforeText
    case inText
    case afterText
    case end
  }

  private var place = Place.start

  /// The parts of strings in a piece of the list.
  ///
  /// - Returns: bytes of a string, and whether the string ends with them.
  mutating func parts(
    of piece: [UInt8], isLast: Bool
  ) throws(CacheError) -> [(bytes: [UInt8], isEnd: Bool)] {
    var parts: [(bytes: [UInt8], isEnd: Bool)] = []
    var start = 0
    for (index, byte) in piece.enumerated() {
      switch (place, byte) {
      case (.inText, UInt8(ascii: "\"")):
        parts.append((Array(piece[start..<index]), true))
        place = .afterText
      case (.inText, _), (_, 0x09), (_, 0x0A), (_, 0x0D), (_, 0x20): break
      case (.start, UInt8(ascii: "[")): place = .beforeText
      case (.beforeText, UInt8(ascii: "\"")): (place, start) = (.inText, index + 1)
      case (.beforeText, UInt8(ascii: "]")), (.afterText, UInt8(ascii: "]")): place = .end
      case (.afterText, UInt8(ascii: ",")): place = .beforeText
      default: throw Self.damaged
      }
    }
    if case .inText = place { parts.append((Array(piece[start...]), false)) }
    if isLast, place != .end { throw Self.damaged }
    return parts
  }

  private static let damaged = CacheError(.damaged, "the text is not a list of pieces, as Polly.js writes it")
}
