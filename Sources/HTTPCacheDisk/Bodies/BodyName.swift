/// The name of a body file: the random number of its writer and a running number. The name contains nothing
/// of a URL or a field. A name of any other form in an index is rejected.
struct BodyName: Hashable, Sendable {
  /// The writer: a random number of an open store.
  let owner: UInt64
  /// The running number of the body; each writer counts its own.
  let number: UInt64

  init(owner: UInt64, number: UInt64) {
    self.owner = owner
    self.number = number
  }

  /// Parses the name of a file: the owner with all its digits, and the number without leading zeros.
  init?(fileName: String) {
    var fileName = fileName
    guard let name = fileName.withUTF8({ BodyName(digits: $0) }) else { return nil }
    self = name
  }

  private init?(digits bytes: UnsafeBufferPointer<UInt8>) {
    let middle = 16
    guard (18...33).contains(bytes.count), bytes[middle] == UInt8(ascii: "-"),
      let owner = Self.hexadecimal(bytes[..<middle]),
      let number = Self.hexadecimal(bytes[(middle + 1)...]),
      bytes[middle + 1] != UInt8(ascii: "0") || bytes.count == 18
    else { return nil }
    self.init(owner: owner, number: number)
  }

  private static func hexadecimal(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }

  /// The name of the file in the folder `bodies`.
  var fileName: String {
    let digits = max(1, (67 - number.leadingZeroBitCount) / 4)
    return Self.ownerText(owner) + "-" + Self.text(of: number, digits: digits)
  }

  static func ownerText(_ owner: UInt64) -> String { text(of: owner, digits: 16) }

  private static func text(of number: UInt64, digits: Int) -> String {
    String(unsafeUninitializedCapacity: digits) { buffer in
      for place in 0..<digits {
        let digit = UInt8(number >> UInt64(4 * (digits - 1 - place)) & 0xF)
        buffer[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
      }
      return digits
    }
  }
}
