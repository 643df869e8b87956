/// Changes the size of an image.
public struct ResizeProcessor: ImageProcessor {
  /// How width and height are used.
  public enum Mode: String, CaseIterable, Sendable {
    /// The largest image within width and height that keeps the aspect ratio.
    case fit
    /// The smallest image that covers width and height and keeps the aspect ratio, cropped at its center.
    case fill
    /// Exactly width and height.
    case stretch
  }

  /// Width and height in pixels.
  public let size: ImageSize
  /// How they are used.
  public let mode: Mode
  /// Whether a smaller image is enlarged. If not, `fit` and `stretch` leave it as it is, and `fill` crops it.
  public let enlarges: Bool

  /// Makes a processor.
  ///
  /// - Parameters:
  ///   - width: pixels; less than 1 becomes 1.
  ///   - height: pixels; less than 1 becomes 1.
  ///   - mode: how width and height are used.
  ///   - enlarges: whether a smaller image is enlarged.
  public init(width: Int, height: Int, mode: Mode = .fit, enlarges: Bool = false) {
    size = ImageSize(width: max(width, 1), height: max(height, 1))
    self.mode = mode
    self.enlarges = enlarges
  }

  /// Name and parameters.
  public var key: String {
    "resize(\(size.width)x\(size.height),\(mode.rawValue)\(enlarges ? ",enlarge" : ""))"
  }

  /// The size of the resized image before it is cropped.
  public func neededSize(of size: ImageSize) -> ImageSize? { scaledSize(of: size) }

  /// Resamples in the color space of the image: with Lanczos' filter of three lobes, or with Mitchell's filter if the
  /// image has transparency or is enlarged.
  ///
  /// - Throws: `ImageError.tooManyPixels` for a result above 100 million pixels.
  public func process(_ image: DecodedImage) throws -> DecodedImage {
    let scaled = try Resampler.resize(image, to: scaledSize(of: image.originalSize))
    guard mode == .fill else { return scaled }
    let cropped = ImageSize(width: min(scaled.width, size.width), height: min(scaled.height, size.height))
    return try scaled.cropped(
      x: (scaled.width - cropped.width) / 2, y: (scaled.height - cropped.height) / 2, to: cropped)
  }

  private func scaledSize(of image: ImageSize) -> ImageSize {
    let horizontal = Double(size.width) / Double(max(image.width, 1))
    let vertical = Double(size.height) / Double(max(image.height, 1))
    let factor: Double
    switch mode {
    case .stretch:
      return enlarges || (image.width >= size.width && image.height >= size.height) ? size : image
    case .fit: factor = min(horizontal, vertical)
    case .fill: factor = max(horizontal, vertical)
    }
    guard factor < 1 || enlarges else { return image }
    // The side that decides is exact, whatever the rounding.
    let decidesByWidth = factor == horizontal
    let width = decidesByWidth ? size.width : Self.rounded(Double(image.width) * factor)
    let height = decidesByWidth ? Self.rounded(Double(image.height) * factor) : size.height
    return ImageSize(width: width, height: height)
  }

  private static func rounded(_ length: Double) -> Int {
    max(1, Int(exactly: length.rounded()) ?? Int.max / 8)
  }
}

extension ImageProcessor where Self == ResizeProcessor {
  /// Fits an image into width and height, without enlarging it.
  public static func thumbnail(width: Int, height: Int) -> ResizeProcessor {
    ResizeProcessor(width: width, height: height)
  }

  /// See `ResizeProcessor`.
  public static func resize(
    width: Int, height: Int, mode: ResizeProcessor.Mode = .fit, enlarges: Bool = false
  ) -> ResizeProcessor {
    ResizeProcessor(width: width, height: height, mode: mode, enlarges: enlarges)
  }
}
