import HTTPCaching

/// Reads numbers and boxes of an AVIF or HEIC file (ISO 14496-12 §4.2). Numbers are unsigned, most significant byte first.
struct HEIFBoxes {
  /// A box: its type, where it begins, and where its content is.
  struct Box {
    let type: String
    let start: Int
    let content: Range<Int>
  }

  /// The maximum number of boxes in a box, as in libheif.
  private static let boxLimit = 20_000

  private let bytes: UnsafeRawBufferPointer
  private(set) var position: Int
  let end: Int

  /// - Parameter range: within the bytes.
  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  var isAtEnd: Bool { position >= end }

  /// Reads a number.
  ///
  /// - Parameter count: bytes, 0 to 8; a number of no bytes is 0.
  /// - Throws: `ImageError.truncated`, or `ImageError.damaged` for a number beyond 63 bits.
  mutating func number(_ count: Int) throws(ImageError) -> Int {
    guard count <= end - position else { throw .truncated }
    let value = bytes[position..<position + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    position += count
    guard let number = Int(exactly: value) else { throw .damaged("a number of its boxes is too large") }
    return number
  }

  /// Reads a signed number of 32 bits.
  ///
  /// - Throws: `ImageError.truncated`.
  mutating func signed() throws(ImageError) -> Int {
    Int(Int32(truncatingIfNeeded: try number(4)))
  }

  /// Reads four characters.
  ///
  /// - Throws: `ImageError.truncated`.
  mutating func type() throws(ImageError) -> String {
    guard end - position >= 4 else { throw .truncated }
    position += 4
    return String(decoding: bytes[position - 4..<position], as: UTF8.self)
  }

  /// Reads the text up to a zero.
  mutating func text() -> String {
    let text = bytes[position..<end].prefix { $0 != 0 }
    position = min(end, text.endIndex + 1)
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads version and flags of a box that has them.
  ///
  /// - Throws: `ImageError.truncated`.
  mutating func versionAndFlags() throws(ImageError) -> (version: Int, flags: Int) {
    (try number(1), try number(3))
  }

  /// Reads a box; its content is passed over.
  ///
  /// - Throws: `ImageError.truncated` or `ImageError.damaged`.
  mutating func box() throws(ImageError) -> Box {
    let start = position
    var length = try number(4)
    let type = try type()
    if length == 1 { length = try number(8) }
    // 0: up to the end.
    if length == 0 { length = end - start }
    guard length >= position - start else { throw .damaged("the length of a box is \(length)") }
    guard length <= end - start else { throw .truncated }
    defer { position = start + length }
    return Box(type: type, start: start, content: position..<start + length)
  }

  /// A reader of a part.
  ///
  /// - Parameter range: within the bytes.
  func reader(of range: Range<Int>) -> HEIFBoxes { HEIFBoxes(bytes, range) }

  /// The boxes in a part.
  ///
  /// - Parameters:
  ///   - range: within the bytes.
  ///   - prefix: bytes before the first box.
  /// - Throws: `ImageError.truncated`, `ImageError.damaged`, or `ImageError.unsupported` for too many.
  func boxes(in range: Range<Int>, after prefix: Int = 0) throws(ImageError) -> [Box] {
    guard prefix <= range.count else { throw .truncated }
    var reader = reader(of: range.dropFirst(prefix))
    var boxes: [Box] = []
    while !reader.isAtEnd {
      guard boxes.count < Self.boxLimit else { throw .unsupported("HEIF: more than \(Self.boxLimit) boxes") }
      boxes.append(try reader.box())
    }
    return boxes
  }
}
