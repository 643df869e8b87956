import Foundation
import HTTPCacheStore

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
