#if ImageCodecs
  public import HTTPCaching

  /// Decodes GIF with giflib: all pictures, or the first one. What no picture covers is transparent.
  public struct GIFDecoder: AnimationDecoder {
    /// Makes a decoder.
    public init() {}

    /// Whether bytes begin like GIF.
    public func recognizes(_ bytes: BodyBytes) -> Bool {
      let start = bytes.prefix(6).array
      return start.elementsEqual("GIF87a".utf8) || start.elementsEqual("GIF89a".utf8)
    }

    /// The size of the image.
    ///
    /// - Throws: `ImageError`.
    public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
      try bytes.withUnsafeBytes { (bytes) throws(ImageError) in try GIFReader(bytes).size }
    }

    /// Decodes the first picture.
    ///
    /// - Throws: `ImageError`.
    public func decode(
      _ bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> DecodedImage {
      guard let first = try frames(of: bytes, options: options, limit: 1).first else {
        throw .damaged("it has no picture")
      }
      return first.image
    }

    /// Decodes all pictures.
    ///
    /// - Throws: `ImageError`.
    public func frames(
      of bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> [ImageFrame] {
      try frames(of: bytes, options: options, limit: .max)
    }

    private func frames(
      of bytes: BodyBytes, options: ImageDecodingOptions, limit: Int
    ) throws(ImageError) -> [ImageFrame] {
      try bytes.withUnsafeBytes { (bytes) throws(ImageError) in
        let reader = try GIFReader(bytes)
        let size = reader.size
        try size.check(pixelLimit: options.pixelLimit)
        let canvas = UnsafeMutablePointer<SIMD4<UInt8>>.allocate(capacity: size.width * size.height)
        defer { canvas.deallocate() }
        canvas.initialize(repeating: .zero, count: size.width * size.height)
        var frames: [ImageFrame] = []
        while frames.count < limit {
          let goesOn = try reader.next(on: canvas, pixelLimit: options.pixelLimit) {
            (duration) throws(ImageError) in
            try size.check(pixelLimit: options.pixelLimit, frames: frames.count + 1)
            frames.append(ImageFrame(image: try Self.image(canvas, size), duration: duration))
          }
          if !goesOn { break }
        }
        return frames
      }
    }

    private static func image(
      _ canvas: UnsafeMutablePointer<SIMD4<UInt8>>, _ size: ImageSize
    ) throws(ImageError) -> DecodedImage {
      let count = size.width * size.height
      let isOpaque = UnsafeBufferPointer(start: canvas, count: count).allSatisfy { $0.w == 255 }
      return try DecodedImage(
        size: size, pixels: DecodedImage.makePixels(size) { $0.update(from: canvas, count: count) },
        isOpaque: isOpaque)
    }
  }
#endif
