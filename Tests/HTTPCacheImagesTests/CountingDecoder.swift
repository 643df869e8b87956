import HTTPCaching
import Synchronization

@testable import HTTPCacheImages

/// Decodes `IMG`, a width, a height and a gray value, one byte each, and counts its decodings.
/// Knows no limit of pixels.
final class CountingDecoder: ImageDecoder {
  private let decodings = Mutex<[UInt8]>([])

  /// The gray values that were decoded.
  var decoded: [UInt8] { decodings.withLock { $0 } }

  func recognizes(_ bytes: BodyBytes) -> Bool { bytes.prefix(3).array == Array("IMG".utf8) }

  func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
    let bytes = bytes.array
    guard bytes.count >= 6 else { throw .truncated }
    return ImageSize(width: Int(bytes[3]), height: Int(bytes[4]))
  }

  func decode(_ bytes: BodyBytes, options: ImageDecodingOptions) throws(ImageError) -> DecodedImage {
    let size = try size(of: bytes)
    let gray = bytes.array[5]
    decodings.withLock { $0.append(gray) }
    let color = SIMD4<UInt8>(gray, gray, gray, 255)
    return try DecodedImage(
      size: size,
      pixels: DecodedImage.makePixels(size) { $0.update(repeating: color, count: size.width * size.height) },
      isOpaque: true)
  }

  static func bytes(_ gray: UInt8, side: UInt8 = 10, padding: Int = 0) -> BodyBytes {
    BodyBytes(Array("IMG".utf8) + [side, side, gray] + [UInt8](repeating: 0, count: padding))
  }
}
