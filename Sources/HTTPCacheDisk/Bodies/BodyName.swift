/// The name of a body's file: who wrote it and a running number. Nothing of a URL or of a field gets
/// into it, and nothing but this form is accepted from an index.
struct BodyName: Hashable, Sendable {
  /// The writer, a random number of an open store.
  let owner: UInt64
  /// Counts the bodies of that writer.
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

  // Owner, with all its digits, and number, without any that are not needed.
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

  /// The folder: as few as possible are made, and each takes 256 bodies before the next one.
  var shard: String { Self.shardName(Int(number >> 8 & 0xFF)) }

  var fileName: String {
    let digits = max(1, (67 - number.leadingZeroBitCount) / 4)
    return Self.ownerText(owner) + "-" + Self.text(of: number, digits: digits)
  }

  /// Below `bodies`.
  var path: String { shard + "/" + fileName }

  /// Below `bodies`, while it is being written.
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
