import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The head of an HTTP/1.1 message as a recording has it (RFC 9112 §2.1). Reading is lenient: lines that are not
/// fields are left out, since a crawler records whatever a server sent. The proxy refuses such heads instead.
struct HTTPMessageHead {
  static let longest = 256 << 10

  /// The first line.
  let start: String
  let fields: HTTPFields

  /// Reads a head from the block of a record.
  ///
  /// - Parameter length: the number of bytes of the block.
  /// - Returns: nil if the block has no head.
  /// - Throws: `CacheError.damaged` for more fields than `HTTPFields.countLimit`, `CacheError.io`.
  init?(_ input: inout WARCInput, length: Int64) throws(CacheError) {
    let end = input.taken + min(length, Int64(Self.longest))
    var lines: [[UInt8]] = []
    while true {
      guard let line = try input.line(limit: Int(end - input.taken) - 1) else { return nil }
      if line.isEmpty { break }
      // A folded line (RFC 9112 §5.2).
      if !lines.isEmpty, let first = line.first, Self.isSpace(first) {
        lines[lines.count - 1] += [0x20] + Self.trimmed(line[...])
      } else {
        lines.append(line)
      }
    }
    guard let start = lines.first else { return nil }
    self.start = String(decoding: start, as: UTF8.self)
    var fields: HTTPFields = [:]
    for line in lines.dropFirst() {
      // A proxy removes white space before the colon (RFC 9112 §5.1).
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
        let name = HTTPField.Name(String(decoding: Self.trimmed(line[..<colon]), as: UTF8.self))
      else { continue }
      // Bytes, not text: a value may be in ISO 8859-1 (RFC 9110 §5.5).
      let value = Self.trimmed(line[(colon + 1)...])
      guard HTTPField.isValidValue(value) else { continue }
      guard fields.appendBounded(HTTPField(name: name, value: value)) else {
        throw CacheError(.damaged, "its head has more than \(HTTPFields.countLimit) fields")
      }
    }
    self.fields = fields
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }

  /// The status of a response; nil if it is not the head of one.
  var status: Int? {
    let parts = start.split(separator: " ", maxSplits: 2)
    guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), parts[1].utf8.count == 3 else { return nil }
    return Int(parts[1])
  }

  /// The method of a request; nil if it is not the head of one.
  var method: String? {
    let parts = start.split(separator: " ")
    return parts.count == 3 && parts[2].hasPrefix("HTTP/") ? String(parts[0]) : nil
  }
}
