#if ImageCodecs
  import CWebP
  public import HTTPCaching

  /// Encodes WebP with libwebp.
  public struct WebPEncoder: ImageEncoder {
    /// From 0 to 100; nil is lossless.
    public var quality: Int?

    /// Makes an encoder.
    ///
    /// - Parameter quality: from 0 to 100, other values become the nearest of these; nil is lossless.
    public init(quality: Int? = 80) { self.quality = quality.map { min(max($0, 0), 100) } }

    /// `image/webp`.
    public var contentType: String { "image/webp" }

    /// Encodes an image. Lossless, the color of wholly transparent pixels is not kept.
    ///
    /// - Throws: `ImageError.encodingFailed`, also for more than 16,383 pixels of width or height.
    public func encode(_ image: DecodedImage) throws(ImageError) -> BodyBytes {
      guard image.width <= WEBP_MAX_DIMENSION, image.height <= WEBP_MAX_DIMENSION else {
        throw .encodingFailed("WebP has at most \(WEBP_MAX_DIMENSION) pixels of width and height")
      }
      var output: UnsafeMutablePointer<UInt8>?
      defer { WebPFree(output) }
      let length = image.pixels.withUnsafeBytes { buffer in
        let source = buffer.bindMemory(to: UInt8.self).baseAddress
        let (width, height, stride) = (Int32(image.width), Int32(image.height), Int32(image.bytesPerRow))
        return quality.map { WebPEncodeRGBA(source, width, height, stride, Float($0), &output) }
          ?? WebPEncodeLosslessRGBA(source, width, height, stride, &output)
      }
      guard length > 0, let output else { throw .encodingFailed("libwebp cannot encode it") }
      let bytes = UnsafeBufferPointer(start: output, count: length)
      guard let profile = image.colorSpace.rgbProfile else { return BodyBytes(bytes) }
      return try Self.adding(profile, to: bytes)
    }

    private static func adding(
      _ profile: BodyBytes, to image: UnsafeBufferPointer<UInt8>
    ) throws(ImageError) -> BodyBytes {
      guard let muxer = WebPMuxNew() else { throw .encodingFailed("no memory") }
      defer { WebPMuxDelete(muxer) }
      var whole = WebPData(bytes: image.baseAddress, size: image.count)
      var result = WebPData()
      defer { WebPDataClear(&result) }
      let isDone = profile.withUnsafeBytes { buffer in
        var chunk = WebPData(bytes: buffer.bindMemory(to: UInt8.self).baseAddress, size: buffer.count)
        return WebPMuxSetImage(muxer, &whole, 0) == WEBP_MUX_OK
          && WebPMuxSetChunk(muxer, "ICCP", &chunk, 1) == WEBP_MUX_OK
          && WebPMuxAssemble(muxer, &result) == WEBP_MUX_OK
      }
      guard isDone else { throw .encodingFailed("libwebp cannot add the color profile") }
      return BodyBytes(UnsafeBufferPointer(start: result.bytes, count: result.size))
    }
  }
#endif
