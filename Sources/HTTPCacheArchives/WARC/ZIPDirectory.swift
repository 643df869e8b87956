import HTTPCacheFiles
import HTTPCacheStore

/// The central directory of a ZIP file, also of one with more than 4 GiB (APPNOTE 6.3.10 §4.3).
struct ZIPDirectory {
  /// A file in the ZIP file.
  struct Member {
    let name: String
    /// The method of compression: 0 is none, 8 is deflate.
    let method: Int
    /// The compressed length in bytes.
    let length: Int64
    /// The place of its local header.
    let header: Int64
    /// Whether its bytes need a password.
    let isEncrypted: Bool

    /// The place of its first byte.
    ///
    /// - Throws: `CacheError.damaged` if the file has no such header there, `CacheError.io`.
    func start(in file: CacheFile) throws(CacheError) -> Int64 {
      let bytes = try file.read(30, at: header).array
      let start = header + 30 + number(bytes, 26, 2) + number(bytes, 28, 2)
      guard number(bytes, 0, 4) == 0x0403_4B50, try start + length <= file.length() else {
        throw CacheError(.damaged, "damaged header in the ZIP file")
      }
      return start
    }
  }

  private static let longest: Int64 = 64 << 20

  private(set) var members: [Member] = []

  /// Reads the directory.
  ///
  /// - Throws: `CacheError.damaged` if the file has none, `CacheError.tooLarge` for one of more than 64 MiB, `CacheError.io`.
  init(_ file: CacheFile, _ name: String) throws(CacheError) {
    let damaged = CacheError(.damaged, "\(name) is not a ZIP file, or was cut")
    let length = try file.length()
    let tailLength = Int(min(length, 65_557))
    let tail = try file.read(tailLength, at: length - Int64(tailLength)).array
    guard tail.count >= 22,
      let end = stride(from: tail.count - 22, through: 0, by: -1).first(where: {
        number(tail, $0, 4) == 0x0605_4B50
      })
    else { throw damaged }
    var (size, offset) = (number(tail, end + 12, 4), number(tail, end + 16, 4))
    if end >= 20, number(tail, end - 20, 4) == 0x0706_4B50 {
      let place = number(tail, end - 12, 8)
      guard place >= 0, place <= length - 56, case let record = try file.read(56, at: place).array,
        number(record, 0, 4) == 0x0606_4B50
      else { throw damaged }
      (size, offset) = (number(record, 40, 8), number(record, 48, 8))
    }
    guard size >= 0, offset >= 0, size <= length, offset <= length - size else { throw damaged }
    guard size <= Self.longest else {
      throw CacheError(.tooLarge, "the directory of \(name) is longer than \(Self.longest) bytes")
    }
    let directory = try file.read(Int(size), at: offset).array
    var place = 0
    while place + 46 <= directory.count, number(directory, place, 4) == 0x0201_4B50 {
      let (nameLength, extraLength) = (
        Int(number(directory, place + 28, 2)), Int(number(directory, place + 30, 2))
      )
      let next = place + 46 + nameLength + extraLength + Int(number(directory, place + 32, 2))
      guard next <= directory.count else { throw damaged }
      if let member = Self.member(directory, place, nameLength, extraLength), member.header <= length - 30 {
        members.append(member)
      }
      place = next
    }
  }

  private static func member(
    _ directory: [UInt8], _ place: Int, _ nameLength: Int, _ extraLength: Int
  ) -> Member? {
    let name = String(decoding: directory[(place + 46)..<(place + 46 + nameLength)], as: UTF8.self)
    var values = [
      number(directory, place + 24, 4), number(directory, place + 20, 4), number(directory, place + 42, 4),
    ]
    // Numbers that do not fit are in an extra field, in this order (§4.5.3).
    var extra = place + 46 + nameLength
    let end = extra + extraLength
    while extra + 4 <= end {
      let (id, count) = (number(directory, extra, 2), Int(number(directory, extra + 2, 2)))
      extra += 4
      if id == 1 {
        var from = extra
        for index in values.indices where values[index] == 0xFFFF_FFFF && from + 8 <= min(end, extra + count)
        {
          values[index] = number(directory, from, 8)
          from += 8
        }
      }
      extra += count
    }
    let isEncrypted = number(directory, place + 8, 2) & 1 == 1
    guard values[1] >= 0, values[1] <= .max / 4, values[2] >= 0 else { return nil }
    return Member(
      name: name, method: Int(number(directory, place + 10, 2)), length: values[1], header: values[2],
      isEncrypted: isEncrypted)
  }
}

/// An unsigned number with the least significant byte first; -1 if it does not fit in 63 bits or is outside of the bytes.
private func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int64 {
  guard place >= 0, place + count <= bytes.count else { return -1 }
  let value = bytes[place..<(place + count)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  return Int64(exactly: value) ?? -1
}
