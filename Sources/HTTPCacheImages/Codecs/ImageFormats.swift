public import HTTPCaching

/// The decoders of a cache. The first one that recognises the bytes decodes them.
public struct ImageFormats: Sendable {
  /// The decoders in the order in which they are asked.
  public var decoders: [any ImageDecoder]

  /// Makes a list.
  public init(_ decoders: [any ImageDecoder]) { self.decoders = decoders }

  /// The decoders of this platform and of the traits of the package: ImageIO on Apple's systems; JPEG, PNG, WebP, GIF, AVIF
  /// and HEIC with the trait `ImageCodecs`; otherwise none.
  public static var standard: ImageFormats {
    #if ImageCodecs
      ImageFormats([JPEGDecoder(), PNGDecoder(), WebPDecoder(), GIFDecoder(), HEIFDecoder()])
    #elseif canImport(ImageIO)
      ImageFormats([AppleImageDecoder()])
    #else
      ImageFormats([])
    #endif
  }

  /// Decodes an image. The bytes tell the format; names and `Content-Type` do not matter. The decoder is called only if
  /// its `ImageDecoder.size(of:)` is within the limit of pixels.
  ///
  /// - Throws: `ImageError`; `ImageError.notAnImage` if no decoder recognises the bytes, `ImageError.unsupported` if they
  ///   are an image of another format.
  public func decode(
    _ bytes: BodyBytes, options: ImageDecodingOptions = ImageDecodingOptions()
  ) throws(ImageError) -> DecodedImage {
    try decoder(for: bytes, pixelLimit: options.pixelLimit).decoder.decode(bytes, options: options)
  }

  /// The size of an image, upright, from its header.
  ///
  /// - Throws: `ImageError`.
  public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
    try decoder(for: bytes).size(of: bytes)
  }

  /// The pictures of an animation, first to last; one for another image.
  ///
  /// - Parameters:
  ///   - bytes: the file.
  ///   - options: their limit of pixels is one for all pictures together.
  /// - Throws: `ImageError`.
  public func frames(
    of bytes: BodyBytes, options: ImageDecodingOptions = ImageDecodingOptions()
  ) throws(ImageError) -> [ImageFrame] {
    let decoder = try decoder(for: bytes, pixelLimit: options.pixelLimit).decoder
    if let decoder = decoder as? any AnimationDecoder {
      return try decoder.frames(of: bytes, options: options)
    }
    return [ImageFrame(image: try decoder.decode(bytes, options: options), duration: .zero)]
  }

  /// The decoder of an image, and the size that its header states, upright.
  ///
  /// - Throws: `ImageError`; `ImageError.tooManyPixels` for a size above the limit, which an app's decoder need not
  ///   compare.
  func decoder(
    for bytes: BodyBytes, pixelLimit: Int
  ) throws(ImageError) -> (decoder: any ImageDecoder, size: ImageSize) {
    let decoder = try decoder(for: bytes)
    let size = try decoder.size(of: bytes)
    try size.check(pixelLimit: pixelLimit)
    return (decoder, size)
  }

  private func decoder(for bytes: BodyBytes) throws(ImageError) -> any ImageDecoder {
    guard let decoder = decoders.first(where: { $0.recognizes(bytes) }) else {
      if let format = ContentSniffer.format(of: bytes) { throw .unsupported("the format \(format)") }
      throw .notAnImage(contentType: nil)
    }
    return decoder
  }
}

/// Makes bytes of one format of pixels.
public protocol ImageEncoder: Sendable {
  /// The value of `Content-Type` for the bytes.
  var contentType: String { get }

  /// Encodes an image. The color space goes with it.
  ///
  /// - Throws: `ImageError.encodingFailed`.
  func encode(_ image: DecodedImage) throws(ImageError) -> BodyBytes
}
