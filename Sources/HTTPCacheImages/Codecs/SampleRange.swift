/// The range of the numbers of an image: the full one, or the limited one of television (ITU-T H.273, equations 20 to 22).
enum SampleRange {
  /// The 8 bits in the full range for each sample.
  ///
  /// - Parameters:
  ///   - bits: the bits of a sample, from 8 to 16.
  ///   - isLimited: whether the samples are in the limited range. Samples outside of it become black or white.
  static func table(bits: Int, isLimited: Bool) -> [UInt8] {
    let last = 1 << bits - 1
    let (black, white) = isLimited ? (16 << (bits - 8), 235 << (bits - 8)) : (0, last)
    return (0...last).map { sample in
      let full = (min(max(sample, black), white) - black) * 255 + (white - black) / 2
      return UInt8(truncatingIfNeeded: full / (white - black))
    }
  }

  /// Brings the colors of pixels from the limited range to the full one. Alpha has the full range always.
  static func expand(_ pixels: UnsafeMutablePointer<SIMD4<UInt8>>, count: Int) {
    let table = table(bits: 8, isLimited: true)
    for index in 0..<count {
      let pixel = pixels[index]
      pixels[index] = SIMD4(table[Int(pixel.x)], table[Int(pixel.y)], table[Int(pixel.z)], pixel.w)
    }
  }
}
