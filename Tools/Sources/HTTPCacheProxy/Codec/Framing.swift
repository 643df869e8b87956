import HTTPCacheSemantics
import HTTPTypes

/// How a message gives the length of its content (RFC 9112 §6).
enum Framing: Sendable, Equatable {
  /// There is no content.
  case none
  /// This number of bytes.
  case length(Int64)
  /// The chunked transfer coding.
  case chunked
  /// All bytes up to the end of the connection.
  case untilClose

  /// The length in bytes; nil if unknown before the end.
  var length: Int64? {
    switch self {
    case .none: 0
    case .length(let length): length
    case .chunked, .untilClose: nil
    }
  }

  /// The value of `Content-Length`; nil if there is none.
  ///
  /// - Throws: `ProtocolViolation` for values that are not numbers, or differ (RFC 9110 §8.6).
  static func contentLength(_ fields: HTTPFields) throws(ProtocolViolation) -> Int64? {
    // Most requests have none.
    guard fields.firstIndex(of: .contentLength) != nil else { return nil }
    if let length = plainLength(in: fields) { return length }
    var length: Int64?
    for value in fields[values: .contentLength] {
      for part in value.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) {
        let digits = part.drop { $0 == 0x20 || $0 == 0x09 }
        let trimmed = digits.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed()
        // Zeros at the begin change no number, however many there are.
        guard !trimmed.isEmpty, trimmed.drop(while: { $0 == 0x30 }).count <= 18,
          trimmed.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw ProtocolViolation("an invalid Content-Length (RFC 9110 §8.6)") }
        let number = trimmed.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        guard length == nil || length == number else {
          throw ProtocolViolation("several Content-Length values that differ (RFC 9112 §6.3)")
        }
        length = number
      }
    }
    return length
  }

  /// The value of the only `Content-Length`, if it is as it is written for other programs: at most 18 digits, the first of
  /// which is not 0 unless it is the only one; nil for any other fields.
  private static func plainLength(in fields: HTTPFields) -> Int64? {
    guard let index = fields.firstIndex(of: .contentLength),
      fields.firstIndex(of: .contentLength, from: index + 1) == nil
    else { return nil }
    return fields[index].withUnsafeBytesOfValue { octets in
      guard !octets.isEmpty, octets.count <= 18, octets[0] != 0x30 || octets.count == 1,
        octets.allSatisfy({ (0x30...0x39).contains($0) })
      else { return nil }
      return octets.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
  }

  /// Writes `Content-Length` as one number: it may come several times, with zeros before it, or as a list.
  ///
  /// - Throws: `ProtocolViolation` as `contentLength(_:)`.
  static func simplifyLength(in fields: inout HTTPFields) throws(ProtocolViolation) {
    if plainLength(in: fields) == nil, let length = try contentLength(fields) {
      fields[.contentLength] = String(length)
    }
  }

  /// The transfer codings, lower-cased; nil without the field.
  static func transferCodings(_ fields: HTTPFields) -> [String]? {
    if fields.firstIndex(of: .transferEncoding) == nil { return nil }
    guard let value = fields[.transferEncoding] else { return nil }
    return FieldList.members(value).map { FieldList.lowercased($0) }
  }
}
