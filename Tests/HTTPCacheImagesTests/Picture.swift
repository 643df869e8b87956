import HTTPCaching

@testable import HTTPCacheImages

/// Images that tests make.
enum Picture {
  /// Smooth colors with a hard edge and a fine pattern, unlike in each direction.
  static func make(_ width: Int, _ height: Int, alpha: Bool = false, seed: Int = 0) throws -> DecodedImage {
    let size = ImageSize(width: width, height: height)
    return try DecodedImage(
      size: size,
      pixels: DecodedImage.makePixels(size) { target in
        for y in 0..<height {
          for x in 0..<width {
            let edge = x * 3 > y * 2 + width ? 60 : 0
            target[y * width + x] = SIMD4(
              UInt8((x * 255 / width + seed) % 256), UInt8(y * 255 / height),
              UInt8(60 + edge + (x / 4 + y / 4) % 2 * 40),
              alpha ? UInt8(255 - (x + y) * 255 / (width + height)) : 255)
          }
        }
      }, isOpaque: !alpha)
  }

  /// One color.
  static func plain(_ width: Int, _ height: Int, _ color: SIMD4<UInt8>) throws -> DecodedImage {
    let size = ImageSize(width: width, height: height)
    return try DecodedImage(
      size: size,
      pixels: DecodedImage.makePixels(size) { $0.update(repeating: color, count: width * height) },
      isOpaque: color.w == 255)
  }

  /// The mean absolute difference of two images over all numbers of all pixels; nil for different sizes. Colors
  /// count with their alpha.
  static func difference(_ one: DecodedImage, _ other: DecodedImage) -> Double? {
    guard one.size == other.size else { return nil }
    var sum = 0.0
    for y in 0..<one.height {
      for x in 0..<one.width {
        guard let a = one.pixel(x: x, y: y), let b = other.pixel(x: x, y: y) else { return nil }
        let (alphaOfOne, alphaOfOther) = (Double(a.w), Double(b.w))
        for index in 0..<3 {
          let (one, other): (Double, Double) = (
            Double(a[index]) * alphaOfOne, Double(b[index]) * alphaOfOther
          )
          sum += abs(one - other) / 255
        }
        sum += abs(alphaOfOne - alphaOfOther)
      }
    }
    return sum / Double(one.width * one.height * 4)
  }
}
