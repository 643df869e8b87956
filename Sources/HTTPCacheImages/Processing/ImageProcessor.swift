/// Makes another image of an image.
public protocol ImageProcessor: Sendable {
  /// Tells processors with other results apart, in memory and on disk: has a name and all parameters, and
  /// changes with the algorithm.
  var key: String { get }

  /// The size, upright, that the processor needs of an image; nil for all pixels. A decoder may then decode at
  /// reduced scale. Asked of the first processor of a request only.
  ///
  /// - Parameter size: the size of the whole image.
  func neededSize(of size: ImageSize) -> ImageSize?

  /// Makes the image. Runs off the caller's thread.
  ///
  /// - Parameter image: may be decoded at reduced scale if `neededSize(of:)` allows it: see
  ///   `DecodedImage.originalSize`.
  /// - Throws: any error; the caller of the cache gets `ImageError.processorFailed`, except for an `ImageError`.
  func process(_ image: DecodedImage) throws -> DecodedImage
}

extension ImageProcessor {
  /// All pixels.
  public func neededSize(of size: ImageSize) -> ImageSize? { nil }
}
