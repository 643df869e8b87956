extension ImageCache {
  /// The settings that are fixed when an image cache is made.
  public struct Configuration: Sendable {
    /// Capacity for decoded images in bytes.
    public var memoryCapacity: Int
    /// The maximum number of downloads at once.
    public var downloadLimit: Int
    /// The maximum number of images that are decoded and processed at once. Together with `pixelLimit` it bounds
    /// the memory for this work.
    public var decodeLimit: Int
    /// The longest body in bytes.
    public var bodyLimit: Int
    /// The maximum number of pixels of an image.
    public var pixelLimit: Int
    /// The longest time to wait for the head of a response.
    public var timeout: Duration
    /// The decoders.
    public var formats: ImageFormats
    /// Encodes processed images for the HTTP cache, so that they are not made again after the process has ended;
    /// nil keeps them in memory only. See `docs/images.md`.
    public var variantEncoder: (any ImageEncoder)?

    /// Makes a configuration.
    public init(
      memoryCapacity: Int = 64 << 20, downloadLimit: Int = 6, decodeLimit: Int = 2, bodyLimit: Int = 64 << 20,
      pixelLimit: Int = 100_000_000, timeout: Duration = .seconds(30), formats: ImageFormats = .standard
    ) {
      self.memoryCapacity = memoryCapacity
      self.downloadLimit = downloadLimit
      self.decodeLimit = decodeLimit
      self.bodyLimit = bodyLimit
      self.pixelLimit = pixelLimit
      self.timeout = timeout
      self.formats = formats
      variantEncoder = nil
    }
  }
}
