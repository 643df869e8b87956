/// Width and height in pixels.
public struct ImageSize: Sendable, Hashable {
  /// Pixels of a row.
  public var width: Int
  /// Rows.
  public var height: Int

  /// Makes a size.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Width and height exchanged.
  var transposed: ImageSize { ImageSize(width: height, height: width) }

  /// The maximum width and height: the resampler's tables grow with them.
  private static let sideLimit = 1_000_000

  /// - Throws: `ImageError.emptyImage`, `ImageError.tooManyPixels`, or `ImageError.unsupported` for a width or
  ///   height above 1,000,000.
  func check(pixelLimit: Int) throws(ImageError) {
    guard width > 0, height > 0 else { throw .emptyImage }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= pixelLimit else {
      throw .tooManyPixels(width: width, height: height, limit: pixelLimit)
    }
    guard max(width, height) <= Self.sideLimit else {
      throw .unsupported("a side of \(max(width, height)) pixels")
    }
  }
}
