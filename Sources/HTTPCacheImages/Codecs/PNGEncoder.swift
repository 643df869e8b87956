#if ImageCodecs
  import CSpng
  import HTTPCacheLibC
  public import HTTPCaching

  /// Encodes PNG with libspng: 8 bits each of red, green and blue, and of alpha unless the image is opaque.
  public struct PNGEncoder: ImageEncoder {
    /// Makes an encoder.
    public init() {}

    /// `image/png`.
    public var contentType: String { "image/png" }

    /// Encodes an image.
    ///
    /// - Throws: `ImageError.encodingFailed`.
    public func encode(_ image: DecodedImage) throws(ImageError) -> BodyBytes {
      guard let context = spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)) else {
        throw .encodingFailed("libspng does not begin")
      }
      defer { spng_ctx_free(context) }
      try Self.check(spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1))
      var header = spng_ihdr()
      header.width = UInt32(clamping: image.width)
      header.height = UInt32(clamping: image.height)
      header.bit_depth = 8
      header.color_type = UInt8(
        (image.isOpaque ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA).rawValue)
      try Self.check(spng_set_ihdr(context, &header))
      if let profile = image.colorSpace.rgbProfile { try Self.set(profile, context) }
      try Self.check(
        (image.isOpaque ? Self.withoutAlpha(image) : image.pixels).withUnsafeBytes {
          spng_encode_image(
            context, $0.baseAddress, $0.count, Int32(SPNG_FMT_PNG.rawValue),
            Int32(SPNG_ENCODE_FINALIZE.rawValue))
        })
      var length = 0
      var status: Int32 = 0
      guard let output = spng_get_png_buffer(context, &length, &status) else {
        throw .encodingFailed(String(cString: spng_strerror(status)))
      }
      defer { free(output) }
      return BodyBytes(UnsafeRawBufferPointer(start: output, count: length))
    }

    private static func withoutAlpha(_ image: DecodedImage) -> BodyBytes {
      image.withPixels { source in
        BodyBytes(unsafeUninitializedCapacity: source.count * 3) { target in
          for (index, pixel) in source.enumerated() {
            for channel in 0..<3 { target[index * 3 + channel] = pixel[channel] }
          }
          return source.count * 3
        }
      }
    }

    private static func set(_ profile: BodyBytes, _ context: OpaquePointer) throws(ImageError) {
      // libspng reads the profile only during this call and the encoding; it keeps a copy of neither, so the
      // bytes belong to it from here on.
      guard let copy = malloc(max(profile.count, 1)) else { throw .encodingFailed("no memory") }
      profile.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(start: copy, count: $0.count).copyMemory(from: $0)
      }
      var chunk = spng_iccp()
      withUnsafeMutableBytes(of: &chunk.profile_name) { $0.copyBytes(from: "ICC".utf8) }
      chunk.profile_len = profile.count
      chunk.profile = copy.assumingMemoryBound(to: CChar.self)
      let status = spng_set_iccp(context, &chunk)
      if status != 0 { free(copy) }
      try check(status)
    }

    private static func check(_ status: Int32) throws(ImageError) {
      guard status == 0 else { throw .encodingFailed(String(cString: spng_strerror(status))) }
    }
  }
#endif
