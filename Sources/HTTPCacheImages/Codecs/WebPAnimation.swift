#if ImageCodecs
  import CWebP
  import HTTPCaching

  /// The pictures of an animation in WebP, drawn by libwebpdemux.
  final class WebPAnimation {
    private let decoder: OpaquePointer
    private let size: ImageSize
    private let pixelLimit: Int

    /// - Parameters:
    ///   - bytes: must live longer than this object.
    ///   - pixelLimit: the maximum number of pixels of all pictures together.
    /// - Throws: `ImageError`.
    init(_ bytes: UnsafeRawBufferPointer, pixelLimit: Int) throws(ImageError) {
      var features = WebPBitstreamFeatures()
      let start = bytes.bindMemory(to: UInt8.self).baseAddress
      guard WebPGetFeatures(start, bytes.count, &features) == VP8_STATUS_OK else { throw .truncated }
      size = ImageSize(width: Int(features.width), height: Int(features.height))
      self.pixelLimit = pixelLimit
      // The decoder allocates two canvases when it is made.
      try size.check(pixelLimit: pixelLimit)
      var data = WebPData(bytes: start, size: bytes.count)
      guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw .damaged("libwebp cannot decode it") }
      self.decoder = decoder
    }

    deinit { WebPAnimDecoderDelete(decoder) }

    /// Decodes all pictures, and turns them upright.
    ///
    /// - Throws: `ImageError`.
    func frames(
      colorSpace: ImageColorSpace, orientation: ImageOrientation
    ) throws(ImageError) -> [ImageFrame] {
      var frames: [ImageFrame] = []
      var before: Int32 = 0
      while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
        try ImageError.checkCancellation()
        try size.check(pixelLimit: pixelLimit, frames: frames.count + 1)
        var canvas: UnsafeMutablePointer<UInt8>?
        var time: Int32 = 0
        guard WebPAnimDecoderGetNext(decoder, &canvas, &time) != 0, let canvas else {
          throw .damaged("libwebp cannot decode it")
        }
        let pixels = BodyBytes(UnsafeBufferPointer(start: canvas, count: size.width * size.height * 4))
        frames.append(
          ImageFrame(
            image: try DecodedImage(size: size, pixels: pixels, colorSpace: colorSpace)
              .upright(from: orientation, original: size),
            duration: .milliseconds(Int(time) - Int(before))))
        before = time
      }
      return frames
    }
  }
#endif
