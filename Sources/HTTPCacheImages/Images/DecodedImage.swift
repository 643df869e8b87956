public import HTTPCaching

/// An image in memory: 8 bits each of red, green, blue and alpha. Alpha is not premultiplied. The first row is
/// the top one.
public struct DecodedImage: Sendable {
  /// Width and height in pixels, upright.
  public let size: ImageSize
  /// Bytes from one row to the next; at least four times the width.
  public let bytesPerRow: Int
  /// The rows: `bytesPerRow * size.height` bytes.
  public let pixels: BodyBytes
  /// How the numbers are to be seen.
  public let colorSpace: ImageColorSpace
  /// The orientation that the file has. It has been applied: the pixels are upright.
  public let orientation: ImageOrientation
  /// The size of the whole image in the file, upright: larger than `size` if it was decoded at reduced scale.
  /// A processor that makes another image sets it to the size of its result.
  public let originalSize: ImageSize
  /// Whether each pixel is known to be opaque.
  public let isOpaque: Bool

  /// Makes an image.
  ///
  /// - Parameters:
  ///   - size: width and height in pixels.
  ///   - pixels: the rows, without gaps: `4 * width * height` bytes.
  ///   - colorSpace: how the numbers are to be seen.
  ///   - orientation: the orientation in the file, which has been applied to the pixels.
  ///   - originalSize: the size before reduction; nil for `size`.
  ///   - isOpaque: whether each pixel is opaque.
  /// - Throws: `ImageError.emptyImage`; `ImageError.damaged` if the number of bytes does not fit the size.
  public init(
    size: ImageSize, pixels: BodyBytes, colorSpace: ImageColorSpace = .sRGB,
    orientation: ImageOrientation = .up, originalSize: ImageSize? = nil, isOpaque: Bool = false
  ) throws(ImageError) {
    try size.check(pixelLimit: .max / 4)
    guard pixels.count == size.width * size.height * 4 else {
      throw .damaged("\(pixels.count) bytes are not \(size.width) x \(size.height) pixels")
    }
    self.size = size
    bytesPerRow = size.width * 4
    self.pixels = pixels
    self.colorSpace = colorSpace
    self.orientation = orientation
    self.originalSize = originalSize ?? size
    self.isOpaque = isOpaque
  }

  /// Width in pixels.
  public var width: Int { size.width }

  /// Height in pixels.
  public var height: Int { size.height }

  /// Bytes in memory.
  public var cost: Int { pixels.count }

  /// Red, green, blue and alpha at a place; nil outside of the image.
  public func pixel(x: Int, y: Int) -> SIMD4<UInt8>? {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return nil }
    return pixels.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: y * bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
    }
  }

  /// An image of other pixels in the color space of this one. Its original size is its own size.
  ///
  /// - Parameters:
  ///   - size: width and height in pixels, not zero.
  ///   - isOpaque: whether each pixel is opaque.
  ///   - fill: writes the pixels.
  func making(
    _ size: ImageSize, isOpaque: Bool, fill: (UnsafeMutablePointer<SIMD4<UInt8>>) -> Void
  ) throws(ImageError) -> DecodedImage {
    try DecodedImage(
      size: size, pixels: Self.makePixels(size, fill), colorSpace: colorSpace, orientation: orientation,
      isOpaque: isOpaque)
  }

  static func makePixels(_ size: ImageSize, _ fill: (UnsafeMutablePointer<SIMD4<UInt8>>) -> Void) -> BodyBytes
  {
    let bytes = size.width * size.height * 4
    return BodyBytes(unsafeUninitializedCapacity: bytes) { buffer in
      // Bound for the length of the call: the buffer is fresh, and aligned for pixels.
      if let base = buffer.baseAddress {
        fill(base.bindMemory(to: SIMD4<UInt8>.self, capacity: size.width * size.height))
      }
      return bytes
    }
  }

  /// A pixel whose colors were multiplied with its alpha, which is not 0.
  static func straight(_ pixel: SIMD4<UInt8>) -> SIMD4<UInt8> {
    let wide = SIMD4<UInt32>(truncatingIfNeeded: pixel)
    let straight = (wide &* SIMD4(repeating: 255)) / SIMD4(repeating: wide.w)
    return SIMD4(
      UInt8(min(straight.x, 255)), UInt8(min(straight.y, 255)), UInt8(min(straight.z, 255)), pixel.w)
  }

  /// Calls `body` with the pixels, rows without gaps.
  func withPixels<Result>(_ body: (UnsafeBufferPointer<SIMD4<UInt8>>) -> Result) -> Result {
    pixels.withUnsafeBytes { bytes in
      // Memory that `DecodedImage.init` got may be aligned for bytes only: then copy.
      guard let base = bytes.baseAddress, Int(bitPattern: base) % MemoryLayout<SIMD4<UInt8>>.alignment != 0
      else {
        return body(bytes.bindMemory(to: SIMD4<UInt8>.self))
      }
      return Array(unsafeUninitializedCapacity: width * height) { copy, count in
        UnsafeMutableRawBufferPointer(copy).copyMemory(from: bytes)
        count = width * height
      }.withUnsafeBufferPointer(body)
    }
  }
}

/// How the numbers of the pixels are to be seen.
public enum ImageColorSpace: Sendable {
  /// sRGB, or an image that does not tell.
  case sRGB
  /// The ICC profile of the file, unchanged. The pixels are not converted. A profile of another color space than RGB (of a
  /// gray or CMYK image) does not fit pixels of RGB: decoders and encoders leave it out.
  case profile(BodyBytes)

  /// The color space of pixels of RGB in a file with a profile.
  init(profile: BodyBytes?) {
    self = profile.map { .profile($0) } ?? .sRGB
    if rgbProfile == nil { self = .sRGB }
  }

  /// The profile, if it is one of RGB (ICC.1 §7.2: the length, the color space and the signature in its header).
  var rgbProfile: BodyBytes? {
    guard case .profile(let profile) = self, profile.count >= 128 else { return nil }
    let header = profile.prefix(128).array
    let length = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
    guard length >= 128, length <= profile.count, header[16..<20].elementsEqual("RGB ".utf8),
      header[36..<40].elementsEqual("acsp".utf8)
    else { return nil }
    return profile
  }
}

extension DecodedImage {
  /// The image of a file turned upright.
  ///
  /// - Parameter original: the size of the whole image in the file, as stored there.
  func upright(from orientation: ImageOrientation, original: ImageSize) throws(ImageError) -> DecodedImage {
    let originalSize = orientation.isTransposed ? original.transposed : original
    guard orientation != .up else {
      return try DecodedImage(
        size: size, pixels: pixels, colorSpace: colorSpace, originalSize: originalSize, isOpaque: isOpaque)
    }
    let upright = orientation.isTransposed ? size.transposed : size
    let (width, height) = (self.width, self.height)
    let turned = withPixels { source in
      Self.makePixels(upright) { target in
        for index in 0..<upright.width * upright.height {
          let (y, x) = index.quotientAndRemainder(dividingBy: upright.width)
          let (fromX, fromY) =
            switch orientation {
            case .up: (x, y)
            case .upMirrored: (width - 1 - x, y)
            case .down: (width - 1 - x, height - 1 - y)
            case .downMirrored: (x, height - 1 - y)
            case .leftMirrored: (y, x)
            case .right: (y, height - 1 - x)
            case .rightMirrored: (width - 1 - y, height - 1 - x)
            case .left: (width - 1 - y, x)
            }
          target[index] = source[fromY * width + fromX]
        }
      }
    }
    return try DecodedImage(
      size: upright, pixels: turned, colorSpace: colorSpace, orientation: orientation,
      originalSize: originalSize, isOpaque: isOpaque)
  }
}
