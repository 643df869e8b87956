import Foundation
import HTTPCacheImages
import HTTPCaching

/// Pictures with smooth colours, edges and grain, which compress as photographs do.
enum Photographs {
  static func make(_ count: Int, in folder: String) throws {
    for number in 0..<count {
      let bytes = try JPEGEncoder(quality: 85).encode(picture(4000, 3000, seed: UInt64(number)))
      try Data(bytes.array).write(to: URL(fileURLWithPath: "\(folder)/\(number).jpg"))
    }
  }

  static func picture(_ width: Int, _ height: Int, seed: UInt64 = 0) throws -> DecodedImage {
    var pixels = [UInt8](repeating: 255, count: width * height * 4)
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    for y in 0..<height {
      for x in 0..<width {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let grain = Int(state >> 60)
        let edge = (x / 311 + y / 173 + Int(seed)) % 3 * 40
        let place = (y * width + x) * 4
        pixels[place] = UInt8(clamping: x * 200 / width + edge + grain)
        pixels[place + 1] = UInt8(clamping: y * 200 / height + grain)
        pixels[place + 2] = UInt8(clamping: (x + y) * 120 / (width + height) + edge + grain)
      }
    }
    return try DecodedImage(
      size: ImageSize(width: width, height: height), pixels: BodyBytes(pixels), isOpaque: true)
  }
}
