/// Reads numbers of bits, most significant bit first.
struct BitReader {
  private let bytes: ArraySlice<UInt8>
  private var position = 0
  /// Whether more was read than there is; numbers are 0 from there on.
  private(set) var isOverrun = false

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  mutating func skip(_ count: Int) { position += count }

  /// - Parameter count: at most 32.
  mutating func bits(_ count: Int) -> Int {
    guard position + count <= bytes.count * 8 else {
      isOverrun = true
      return 0
    }
    var number = 0
    for _ in 0..<count {
      let byte = bytes[bytes.startIndex + position / 8]
      number = number << 1 | Int(byte >> UInt8(7 - position % 8) & 1)
      position += 1
    }
    return number
  }

  /// A number whose length is that of the zeros before it (H.265 §9.2, AV1 §4.10.3).
  mutating func exponential() -> Int {
    var zeros = 0
    while bits(1) == 0 {
      zeros += 1
      guard zeros <= 32, !isOverrun else {
        isOverrun = true
        return 0
      }
    }
    return (1 << zeros) - 1 + bits(zeros)
  }
}
