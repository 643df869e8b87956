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

  /// Parses `path`, such as `01/00c0ffee00c0ffee-1f3`.
  init?(path: String) {
    var path = path
    let name = path.withUTF8 { bytes -> BodyName? in
      guard bytes.count > 3, bytes[2] == UInt8(ascii: "/"), let shard = Self.hexadecimal(bytes[..<2]),
        let name = BodyName(fileName: bytes[3...]), name.number >> 8 & 0xFF == shard
      else { return nil }
      return name
    }
    guard let name else { return nil }
    self = name
  }

  /// Parses the last component of a path.
  init?(fileName: String) {
    var fileName = fileName
    guard let name = fileName.withUTF8({ BodyName(fileName: $0[...]) }) else { return nil }
    self = name
  }

  // Parses the owner with all its digits, and the number without leading zeros.
  private init?(fileName bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    let middle = bytes.startIndex + 16
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

  /// The folder of the file. 256 bodies go into one folder before the next folder is made, so that few are made.
  var shard: String { Self.shardName(Int(number >> 8 & 0xFF)) }

  var fileName: String {
    let digits = max(1, (67 - number.leadingZeroBitCount) / 4)
    return Self.ownerText(owner) + "-" + Self.text(of: number, digits: digits)
  }

  /// The path below `bodies`.
  var path: String { shard + "/" + fileName }

  /// The name of the file in its shard while the body is being written.
  var temporaryFileName: String { fileName + Self.temporarySuffix }

  static let temporarySuffix = ".part"

  static func shardName(_ index: Int) -> String { text(of: UInt64(index), digits: 2) }

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
