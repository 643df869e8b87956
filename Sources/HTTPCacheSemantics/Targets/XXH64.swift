/// XXH64, written from its specification: the checksum of stored blocks.
///
/// It is not a cryptographic hash: it detects damage, but does not stop an attacker: it is easy to make
/// inputs with equal hashes. Keys use `SipHash13`.
package struct XXH64: Sendable {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    var index = 0
    var accumulator: UInt64
    let count = bytes.count
    if count >= 32 {
      var lane1 = seed &+ prime1 &+ prime2
      var lane2 = seed &+ prime2
      var lane3 = seed
      var lane4 = seed &- prime1
      while index &+ 32 <= count {
        lane1 = round(lane1, word(bytes, index))
        lane2 = round(lane2, word(bytes, index &+ 8))
        lane3 = round(lane3, word(bytes, index &+ 16))
        lane4 = round(lane4, word(bytes, index &+ 24))
        index &+= 32
      }
      accumulator =
        rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
      accumulator = merge(accumulator, lane1)
      accumulator = merge(accumulator, lane2)
      accumulator = merge(accumulator, lane3)
      accumulator = merge(accumulator, lane4)
    } else {
      accumulator = seed &+ prime5
    }
    accumulator &+= UInt64(count)
    while index &+ 8 <= count {
      accumulator ^= round(0, word(bytes, index))
      accumulator = rotate(accumulator, 27) &* prime1 &+ prime4
      index &+= 8
    }
    if index &+ 4 <= count {
      let half = UInt64(
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
      accumulator ^= half &* prime1
      accumulator = rotate(accumulator, 23) &* prime2 &+ prime3
      index &+= 4
    }
    while index < count {
      accumulator ^= UInt64(bytes[index]) &* prime5
      accumulator = rotate(accumulator, 11) &* prime1
      index &+= 1
    }
    accumulator ^= accumulator >> 33
    accumulator = accumulator &* prime2
    accumulator ^= accumulator >> 29
    accumulator = accumulator &* prime3
    return accumulator ^ (accumulator >> 32)
  }

  package static func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
    bytes.withUnsafeBytes { hash($0, seed: seed) }
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func round(_ accumulator: UInt64, _ input: UInt64) -> UInt64 {
    rotate(accumulator &+ input &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func merge(_ accumulator: UInt64, _ lane: UInt64) -> UInt64 {
    (accumulator ^ round(0, lane)) &* prime1 &+ prime4
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    (value << count) | (value >> (64 - count))
  }
}
