import Foundation
import HTTPCacheFiles
import HTTPCacheStore

/// The bytes of a body that a HAR file has as text or in Base64.
struct HARText: Sendable {
  private static let mark = "\u{1}long string "

  /// The text in place of a long string.
  static func placeholder(_ number: Int, isEscaped: Bool) -> String {
    (isEscaped ? "\\u0001long string " : mark) + String(number)
  }

  private enum Place: Sendable {
    case memory(String)
    case file(CacheFile, Range<Int64>)
  }

  private let place: Place
  private let isBase64: Bool

  /// - Parameters:
  ///   - text: the text of an entry, which may be a placeholder.
  ///   - slice: the entry.
  init(_ text: String, encoding: String?, of slice: HARScanner.Slice, in file: CacheFile) {
    isBase64 = encoding?.lowercased() == "base64"
    if text.hasPrefix(Self.mark), let number = Int(text.dropFirst(Self.mark.count)),
      slice.strings.indices.contains(number)
    {
      place = .file(file, slice.strings[number])
    } else {
      place = .memory(text)
    }
  }

  /// Reads the body from its start.
  struct Reader {
    private var escapes = JSONEscapes()
    private var base64: Base64Pieces?
    private var text: BodyBytes?
    private let file: CacheFile?
    private var range: Range<Int64>

    init(_ text: HARText) {
      base64 = text.isBase64 ? Base64Pieces() : nil
      switch text.place {
      case .memory(let string):
        self.text = BodyBytes(Array(string.utf8))
        (file, range) = (nil, 0..<0)
      case .file(let file, let range):
        self.text = nil
        (self.file, self.range) = (file, range)
      }
    }

    /// The next bytes, never empty; nil at the end.
    ///
    /// - Throws: `CacheError.damaged` if the text is not in the form that the entry names, `CacheError.io`.
    mutating func next() throws(CacheError) -> BodyBytes? {
      while true {
        guard let piece = try textPiece() else { return nil }
        let bytes = base64 == nil ? piece.bytes : try base64?.decode(piece.bytes, isLast: piece.isLast) ?? []
        if !bytes.isEmpty { return BodyBytes(bytes) }
      }
    }

    private mutating func textPiece() throws(CacheError) -> (bytes: [UInt8], isLast: Bool)? {
      guard let file else {
        guard let bytes = text.take() else { return nil }
        return (bytes.array, true)
      }
      guard !range.isEmpty else { return nil }
      let count = Int(min(Int64(64 << 10), range.upperBound - range.lowerBound))
      let raw = try file.read(count, at: range.lowerBound)
      range = range.lowerBound + Int64(count)..<range.upperBound
      return (try escapes.decode(raw.array, isLast: range.isEmpty), range.isEmpty)
    }
  }

  /// Reads the body from its start.
  func reader() -> Reader { Reader(self) }

  /// The number of bytes.
  ///
  /// - Throws: `CacheError.damaged` if the text is not in the form that the entry names, `CacheError.io`.
  func length() throws(CacheError) -> Int64 {
    var reader = reader()
    var length: Int64 = 0
    while let bytes = try reader.next() { length += Int64(bytes.count) }
    return length
  }
}

/// Decodes Base64 piece by piece (RFC 4648 §4); line breaks and spaces are ignored.
struct Base64Pieces {
  private var rest: [UInt8] = []

  /// - Parameter isLast: whether the text ends with this piece.
  /// - Throws: `CacheError.damaged` if it is not Base64.
  mutating func decode(_ piece: [UInt8], isLast: Bool) throws(CacheError) -> [UInt8] {
    var digits = rest
    digits.reserveCapacity(rest.count + piece.count)
    for byte in piece where byte > 0x20 { digits.append(byte) }
    let count = isLast ? digits.count : digits.count / 4 * 4
    rest = Array(digits[count...])
    digits.removeSubrange(count...)
    // Some writers leave the padding out.
    if isLast {
      digits.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - digits.count % 4) % 4))
    }
    guard let data = Data(base64Encoded: Data(digits)) else {
      throw CacheError(.damaged, "the text is not Base64")
    }
    return Array(data)
  }
}
