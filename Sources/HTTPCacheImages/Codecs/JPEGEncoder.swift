#if ImageCodecs
  import CTurboJPEG
  public import HTTPCaching

  /// Encodes JPEG with libjpeg-turbo, without subsampling of colors from quality 90 on. Transparent pixels are
  /// mixed with white.
  public struct JPEGEncoder: ImageEncoder {
    /// From 1 to 100.
    public var quality: Int

    /// Makes an encoder.
    ///
    /// - Parameter quality: from 1 to 100; other values become the nearest of these.
    public init(quality: Int = 85) { self.quality = min(max(quality, 1), 100) }

    /// `image/jpeg`.
    public var contentType: String { "image/jpeg" }

    /// Encodes an image.
    ///
    /// - Throws: `ImageError.encodingFailed`, also for more than 65,500 pixels of width or height.
    public func encode(_ image: DecodedImage) throws(ImageError) -> BodyBytes {
      guard image.width <= 65_500, image.height <= 65_500 else {
        throw .encodingFailed("JPEG has at most 65,500 pixels of width and height")
      }
      guard let handle = tjInitCompress() else { throw .encodingFailed("libjpeg-turbo does not begin") }
      defer { tjDestroy(handle) }
      var output: UnsafeMutablePointer<UInt8>?
      var length: UInt = 0
      defer { tjFree(output) }
      let opaque = image.isOpaque ? image : try image.onWhite()
      let status = opaque.pixels.withUnsafeBytes {
        tjCompress2(
          handle, $0.baseAddress, Int32(opaque.width), Int32(opaque.bytesPerRow), Int32(opaque.height),
          Int32(TJPF_RGBA.rawValue), &output, &length,
          Int32((quality >= 90 ? TJSAMP_444 : TJSAMP_420).rawValue), Int32(quality), 0)
      }
      guard status == 0, let output else {
        throw .encodingFailed(tjGetErrorStr2(handle).map { String(cString: $0) } ?? "")
      }
      let bytes = UnsafeBufferPointer(start: output, count: Int(length))
      guard let profile = image.colorSpace.rgbProfile, bytes.count > 2 else { return BodyBytes(bytes) }
      return BodyBytes(Array(bytes[..<2]) + Self.segments(of: profile) + bytes[2...])
    }

    /// The profile in segments of the application marker 2 (ICC.1, annex B.4). One that is too long is left out.
    private static func segments(of profile: BodyBytes) -> [UInt8] {
      let step = 65_519
      let count = (profile.count + step - 1) / step
      guard (1...255).contains(count) else { return [] }
      var all: [UInt8] = []
      for index in 0..<count {
        let part = profile[index * step..<(index + 1) * step].array
        let length = part.count + 16
        all += [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 0xFF)] + Array("ICC_PROFILE\0".utf8)
        all += [UInt8(index + 1), UInt8(count)] + part
      }
      return all
    }
  }

  extension DecodedImage {
    /// The image over white.
    fileprivate func onWhite() throws(ImageError) -> DecodedImage {
      try making(size, isOpaque: true) { target in
        withPixels { source in
          for index in source.indices {
            let pixel = SIMD4<UInt32>(truncatingIfNeeded: source[index])
            let alpha = SIMD4<UInt32>(repeating: pixel.w)
            let white = SIMD4<UInt32>(repeating: 255 &* (255 &- pixel.w))
            var mixed = SIMD4<UInt8>(
              truncatingIfNeeded: (pixel &* alpha &+ white &+ SIMD4(repeating: 127)) / SIMD4(repeating: 255))
            mixed.w = 255
            target[index] = mixed
          }
        }
      }
    }
  }
#endif
