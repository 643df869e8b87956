/// Cuts a rectangle out of an image.
public struct CropProcessor: ImageProcessor {
  /// Pixels left of the rectangle.
  public let x: Int
  /// Pixels above the rectangle.
  public let y: Int
  /// Width and height of the rectangle in pixels.
  public let size: ImageSize

  /// Makes a processor. The part of the rectangle that lies in the image is the result.
  ///
  /// - Parameters:
  ///   - x: pixels left of the rectangle.
  ///   - y: pixels above it.
  ///   - width: its width in pixels.
  ///   - height: its height in pixels.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    size = ImageSize(width: width, height: height)
  }

  /// Name and parameters.
  public var key: String { "crop(\(size.width)x\(size.height)+\(x)+\(y))" }

  /// Copies the rectangle.
  ///
  /// - Throws: `ImageError.emptyImage` if no part of it lies in the image.
  public func process(_ image: DecodedImage) throws -> DecodedImage {
    let columns = Self.part(from: x, size.width, of: image.width)
    let rows = Self.part(from: y, size.height, of: image.height)
    guard !columns.isEmpty, !rows.isEmpty else { throw ImageError.emptyImage }
    return try image.cropped(
      x: columns.lowerBound, y: rows.lowerBound, to: ImageSize(width: columns.count, height: rows.count))
  }

  private static func part(from start: Int, _ length: Int, of limit: Int) -> Range<Int> {
    let (end, overflow) = start.addingReportingOverflow(max(0, length))
    return (start..<(overflow ? .max : end)).clamped(to: 0..<limit)
  }
}

extension ImageProcessor where Self == CropProcessor {
  /// See `CropProcessor`.
  public static func crop(x: Int, y: Int, width: Int, height: Int) -> CropProcessor {
    CropProcessor(x: x, y: y, width: width, height: height)
  }
}

extension DecodedImage {
  /// - Parameter size: not zero, and within the image.
  func cropped(x: Int, y: Int, to size: ImageSize) throws(ImageError) -> DecodedImage {
    if size == self.size { return self }
    return try making(size, isOpaque: isOpaque) { target in
      withPixels { source in
        for row in 0..<size.height {
          guard let base = source.baseAddress else { return }
          (target + row * size.width).update(from: base + (y + row) * width + x, count: size.width)
        }
      }
    }
  }
}
