public import HTTPCaching

/// Makes pixels of the bytes of one format.
public protocol ImageDecoder: Sendable {
  /// Whether bytes begin like the format.
  func recognizes(_ bytes: BodyBytes) -> Bool

  /// The size of the image, upright, from the header alone.
  ///
  /// - Throws: `ImageError`.
  func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize

  /// Decodes the image, or the first picture of an animated one. `ImageFormats` and `ImageCache` call it only
  /// if `size(of:)` is within the limit of pixels.
  ///
  /// - Throws: `ImageError`.
  func decode(_ bytes: BodyBytes, options: ImageDecodingOptions) throws(ImageError) -> DecodedImage
}

/// How to decode an image.
public struct ImageDecodingOptions: Sendable {
  /// The maximum number of pixels that the header may state.
  public var pixelLimit: Int
  /// The size, upright, that the caller needs; nil for all pixels. A decoder may return a smaller image than the
  /// file has as long as it is at least this large.
  public var neededSize: ImageSize?

  /// Makes options.
  public init(pixelLimit: Int = 100_000_000, neededSize: ImageSize? = nil) {
    self.pixelLimit = pixelLimit
    self.neededSize = neededSize
  }
}
