import HTTPCacheSemantics
import HTTPCaching

/// How records follow each other in the file of a list: mark, length, checksum, payload. A damaged frame does not
/// hide the ones behind it.
enum ListFrames {
  /// A payload in the bytes of a file.
  enum Found {
    case item(UnsafeRawBufferPointer)
    case removal(UInt64)
  }

  private static let mark: [UInt8] = Array("dlR1".utf8)
  private static let headLength = 4 + 4 + 8

  /// The frame of an item.
  static func frame(item bytes: [UInt8]) -> [UInt8] { frame([1] + bytes) }

  /// The frame of a removal.
  static func frame(removal id: UInt64) -> [UInt8] {
    frame([2] + withUnsafeBytes(of: id.littleEndian) { Array($0) })
  }

  private static func frame(_ payload: [UInt8]) -> [UInt8] {
    var frame = mark
    withUnsafeBytes(of: UInt32(payload.count).littleEndian) { frame.append(contentsOf: $0) }
    let sum = payload.withUnsafeBytes { XXH64.hash($0) }
    withUnsafeBytes(of: sum.littleEndian) { frame.append(contentsOf: $0) }
    return frame + payload
  }

  /// The payloads of a file.
  ///
  /// - Parameter visit: is called with each payload whose checksum holds, in order.
  /// - Returns: the number of bytes that belong to none.
  static func read(_ bytes: UnsafeRawBufferPointer, _ visit: (Found) -> Void) -> Int {
    var damaged = 0
    var index = 0
    while index < bytes.count {
      if let (payload, end) = payload(bytes, at: index) {
        visit(payload)
        index = end
      } else {
        damaged += 1
        index += 1
      }
    }
    return damaged
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
    case 1: return (.item(UnsafeRawBufferPointer(rebasing: payload[1...])), first + length)
    case 2 where length == 9:
      let id = payload.loadUnaligned(fromByteOffset: 1, as: UInt64.self).littleEndian
      return (.removal(id), first + length)
    default: return nil
    }
  }
}
