import Foundation
import HTTPCacheFiles
import HTTPCacheStore

/// The bytes of a body that a HAR file has as text, in Base64 or in hex.
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
  let form: HARTextForm

  /// The content of a request.
  ///
  /// - Parameters:
  ///   - text: the text of an entry, which may be a placeholder.
  ///   - slice: the entry.
  init(_ text: String, encoding: String?, of slice: HARScanner.Slice, in file: CacheFile) {
    form = encoding?.lowercased() == "base64" ? .base64 : .text
    place = Self.place(of: text, slice, file)
  }

  /// The body of a response.
  ///
  /// - Parameters:
  ///   - coding: the content coding that the fields of the response name.
  ///   - slice: the entry.
  /// - Throws: `CacheError.damaged` for an encoding that is not read, `CacheError.io`.
  init(
    _ content: HAREntry.Content?, coding: String?, of slice: HARScanner.Slice, in file: CacheFile
  ) throws(CacheError) {
    place = Self.place(of: content?.text ?? "", slice, file)
    if let content {
      form = try HARTextForm(content, start: try Self.start(of: place), coding: coding)
    } else {
      form = .text
    }
  }

  private static func place(of text: String, _ slice: HARScanner.Slice, _ file: CacheFile) -> Place {
    if text.hasPrefix(mark), let number = Int(text.dropFirst(mark.count)),
      slice.strings.indices.contains(number)
    {
      return .file(file, slice.strings[number])
    }
    return .memory(text)
  }

  /// The first bytes of a text.
  private static func start(of place: Place) throws(CacheError) -> [UInt8] {
    switch place {
    case .memory(let text): return Array(text.utf8.prefix(HARTextForm.startLength))
    case .file(let file, let range):
      var escapes = JSONEscapes()
      let count = Int(min(Int64(HARTextForm.startLength), range.upperBound - range.lowerBound))
      return try escapes.decode(try file.read(count, at: range.lowerBound).array, isLast: false)
    }
  }

  /// Reads the body from its start.
  struct Reader {
    private var escapes = JSONEscapes()
    private var decoder: HARTextDecoder
    private var text: BodyBytes?
    private let file: CacheFile?
    private var range: Range<Int64>
    /// The number of bytes of the text that were read, before they were decoded.
    private(set) var textLength: Int64 = 0

    init(_ text: HARText) {
      decoder = HARTextDecoder(text.form)
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
        textLength += Int64(piece.bytes.count)
        let bytes = try decoder.decode(piece.bytes, isLast: piece.isLast)
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
