import HTTPCacheSemantics
import HTTPCaching

/// How records follow each other in the file of a list: mark, length, checksum, payload. A damaged frame does not
/// hide the ones behind it.
enum ListFrames {
  /// A payload, as it was found.
  enum Found: Sendable, Equatable {
    case item([UInt8])
    case removal(UInt64)
  }

  private static let mark: [UInt8] = Array("dlR1".utf8)
  private static let headLength = 4 + 4 + 8

  /// The frame of a payload: kind (1 an item, 2 a removal) and bytes.
  static func frame(_ found: Found) -> [UInt8] {
    let payload: [UInt8] =
      switch found {
      case .item(let bytes): [1] + bytes
      case .removal(let id): [2] + withUnsafeBytes(of: id.littleEndian) { Array($0) }
      }
    var frame = mark
    withUnsafeBytes(of: UInt32(payload.count).littleEndian) { frame.append(contentsOf: $0) }
    let sum = payload.withUnsafeBytes { XXH64.hash($0) }
    withUnsafeBytes(of: sum.littleEndian) { frame.append(contentsOf: $0) }
    return frame + payload
  }

  /// The payloads of a file.
  ///
  /// - Returns: the payloads whose checksum holds, in order; and the number of bytes that belong to none.
  static func read(_ bytes: UnsafeRawBufferPointer) -> (found: [Found], damagedBytes: Int) {
    var found: [Found] = []
    var damaged = 0
    var index = 0
    while index < bytes.count {
      if let (payload, end) = payload(bytes, at: index) {
        found.append(payload)
        index = end
      } else {
        damaged += 1
        index += 1
      }
    }
    return (found, damaged)
  }

  private static func payload(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (Found, end: Int)? {
    guard bytes.count - start > headLength, bytes[start] == mark[0], bytes[start + 1] == mark[1],
      bytes[start + 2] == mark[2], bytes[start + 3] == mark[3]
    else { return nil }
    let length = Int(bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self).littleEndian)
    let sum = bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self).littleEndian
    let first = start + headLength
    guard length >= 1, length <= DownloadRecord.longest + 2_048, length <= bytes.count - first else {
      return nil
    }
    let payload = UnsafeRawBufferPointer(rebasing: bytes[first..<first + length])
    guard XXH64.hash(payload) == sum else { return nil }
    switch payload[0] {
    case 1: return (.item(Array(payload.dropFirst())), first + length)
    case 2 where length == 9:
      let id = payload.loadUnaligned(fromByteOffset: 1, as: UInt64.self).littleEndian
      return (.removal(id), first + length)
    default: return nil
    }
  }
}
