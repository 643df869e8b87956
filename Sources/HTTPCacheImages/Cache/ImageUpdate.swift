public import HTTPCaching

/// One of the images that `ImageCache.updates(for:)` gives.
public struct ImageUpdate: Sendable {
  /// The image.
  public let image: DecodedImage
  /// Whether the image is of lower quality, because a part of the response is still missing.
  public let isPreview: Bool
  /// Where the response came from.
  public let outcome: CacheOutcome
}
