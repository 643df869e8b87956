public import HTTPCaching

/// A picture of an animation.
public struct ImageFrame: Sendable {
  /// The whole picture, as it is shown.
  public let image: DecodedImage
  /// How long it is shown; zero for an image that is no animation.
  public let duration: Duration

  /// Makes a picture.
  public init(image: DecodedImage, duration: Duration) {
    self.image = image
    self.duration = duration
  }
}

/// A decoder of a format that has animations.
public protocol AnimationDecoder: ImageDecoder {
  /// Decodes all pictures, first to last. Compares the pixels of all of them together with the limit, picture by picture,
  /// before it allocates memory for the next one.
  ///
  /// - Throws: `ImageError`.
  func frames(of bytes: BodyBytes, options: ImageDecodingOptions) throws(ImageError) -> [ImageFrame]
}

extension ImageSize {
  /// Checks the limit of pixels for a number of pictures of this size.
  ///
  /// - Throws: `ImageError.emptyImage`, `ImageError.tooManyPixels` or `ImageError.unsupported`.
  func check(pixelLimit: Int, frames: Int) throws(ImageError) {
    try check(pixelLimit: pixelLimit)
    guard frames <= pixelLimit / (width * height) else {
      throw .tooManyPixels(
        width: width, height: height.multipliedReportingOverflow(by: frames).partialValue, limit: pixelLimit)
    }
  }
}
