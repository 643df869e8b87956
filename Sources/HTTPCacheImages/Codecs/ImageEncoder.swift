public import HTTPCaching

/// Makes bytes of one format of pixels.
public protocol ImageEncoder: Sendable {
  /// The value of `Content-Type` for the bytes.
  var contentType: String { get }

  /// Encodes an image. The color space goes with it.
  ///
  /// - Throws: `ImageError.encodingFailed`.
  func encode(_ image: DecodedImage) throws(ImageError) -> BodyBytes
}
