#if ImageCodecs
  import CHeif
  public import HTTPCaching

  /// Decodes AVIF and HEIC with libheif: the primary image, turned and cropped as the file says. 10 and 12 bits become 8.
  public struct HEIFDecoder: ImageDecoder {
    /// The brands of files with still images (ISO 23008-12, annex B; AV1 Image File Format §6).
    private static let brands: Set<String> = [
      "avif", "avis", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1",
    ]
    private static let longestFileType = 256

    /// Makes a decoder.
    public init() {}

    /// Whether bytes begin with a file type that has one of the brands.
    public func recognizes(_ bytes: BodyBytes) -> Bool {
      let start = bytes.prefix(Self.longestFileType).array
      guard start.count >= 12, start[4..<8].elementsEqual("ftyp".utf8) else { return false }
      let length = min(start[0..<4].reduce(0) { $0 << 8 | Int($1) }, start.count)
      // The major brand, its version, and the compatible brands.
      return ([8] + stride(from: 16, to: length - 3, by: 4)).contains {
        Self.brands.contains(Self.brand(start, $0))
      }
    }

    private static func brand(_ bytes: [UInt8], _ place: Int) -> String {
      String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }

    /// The size of the image, upright.
    ///
    /// - Throws: `ImageError`.
    public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
      try Self.withImage(bytes) { (handle) throws(ImageError) in Self.size(handle) }
    }

    /// Decodes the image.
    ///
    /// - Throws: `ImageError`.
    public func decode(
      _ bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> DecodedImage {
      try Self.withImage(bytes, pixelLimit: options.pixelLimit) { (handle) throws(ImageError) in
        let size = Self.size(handle)
        let settings = heif_decoding_options_alloc()
        defer { heif_decoding_options_free(settings) }
        settings?.pointee.convert_hdr_to_8bit = 1
        var image: OpaquePointer?
        try Self.check(
          heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, settings))
        defer { heif_image_release(image) }
        let hasAlpha = heif_image_handle_has_alpha_channel(handle) != 0
        return try DecodedImage(
          size: size,
          pixels: Self.pixels(
            of: image, size,
            isPremultiplied: hasAlpha && heif_image_handle_is_premultiplied_alpha(handle) != 0),
          colorSpace: Self.colorSpace(handle), isOpaque: !hasAlpha)
      }
    }

    /// - Parameter pixelLimit: the maximum number of pixels that libheif may decode; nil if it decodes none.
    private static func withImage<Result>(
      _ bytes: BodyBytes, pixelLimit: Int? = nil, _ body: (OpaquePointer?) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
      guard let context = heif_context_alloc() else { throw .damaged("libheif does not begin") }
      defer { heif_context_free(context) }
      if let pixelLimit { heif_context_set_maximum_image_size_limit(context, sideLimit(pixelLimit)) }
      return try bytes.withUnsafeBytes { (buffer) throws(ImageError) in
        try check(heif_context_read_from_memory_without_copy(context, buffer.baseAddress, buffer.count, nil))
        var handle: OpaquePointer?
        try check(heif_context_get_primary_image_handle(context, &handle))
        defer { heif_image_handle_release(handle) }
        if let pixelLimit {
          try size(handle).check(pixelLimit: pixelLimit)
          // The size before the image is cropped and turned: all of it is decoded.
          let stored = ImageSize(
            width: Int(heif_image_handle_get_ispe_width(handle)),
            height: Int(heif_image_handle_get_ispe_height(handle)))
          try stored.check(pixelLimit: pixelLimit)
          // A grid or an overlay has a size of its own in its data, which must be below this limit.
          let side = min(max(stored.width, stored.height) + 1, Int(sideLimit(pixelLimit)))
          heif_context_set_maximum_image_size_limit(context, Int32(side))
        }
        return try body(handle)
      }
    }

    /// The maximum width and height of each image in a file, also of those that the primary image is made of: libheif knows
    /// no limit of pixels. Twice the side of a square with the limit, for images that are wider than high; libheif's own
    /// limit is 32,768.
    private static func sideLimit(_ pixelLimit: Int) -> Int32 {
      Int32(min(32_768, max(8_192, 2 * Double(max(0, pixelLimit)).squareRoot())))
    }

    private static func size(_ handle: OpaquePointer?) -> ImageSize {
      ImageSize(
        width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle)))
    }

    private static func pixels(
      of image: OpaquePointer?, _ size: ImageSize, isPremultiplied: Bool
    ) throws(ImageError) -> BodyBytes {
      var stride: Int32 = 0
      // The decoded picture may have another size than the header.
      guard let plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride),
        Int(heif_image_get_width(image, heif_channel_interleaved)) == size.width,
        Int(heif_image_get_height(image, heif_channel_interleaved)) == size.height,
        Int(stride) >= size.width * 4
      else { throw .damaged("its picture has another size than its header") }
      return DecodedImage.makePixels(size) { target in
        for row in 0..<size.height {
          UnsafeMutableRawPointer(target + row * size.width)
            .copyMemory(from: plane + row * Int(stride), byteCount: size.width * 4)
        }
        guard isPremultiplied else { return }
        for index in 0..<size.width * size.height where target[index].w != 0 && target[index].w != 255 {
          target[index] = DecodedImage.straight(target[index])
        }
      }
    }

    private static func colorSpace(_ handle: OpaquePointer?) -> ImageColorSpace {
      switch heif_image_handle_get_color_profile_type(handle) {
      case heif_color_profile_type_prof, heif_color_profile_type_rICC:
        let length = heif_image_handle_get_raw_color_profile_size(handle)
        var isRead = false
        let profile = BodyBytes(unsafeUninitializedCapacity: length) { buffer in
          isRead = heif_image_handle_get_raw_color_profile(handle, buffer.baseAddress).code == heif_error_Ok
          return isRead ? length : 0
        }
        return isRead ? ImageColorSpace(profile: profile) : .sRGB
      case heif_color_profile_type_nclx:
        var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
        guard heif_image_handle_get_nclx_color_profile(handle, &profile).code == heif_error_Ok, let profile
        else { return .sRGB }
        defer { heif_nclx_color_profile_free(profile) }
        return ImageColorSpace(
          codePoints: Int(profile.pointee.color_primaries.rawValue),
          Int(profile.pointee.transfer_characteristics.rawValue)) ?? .sRGB
      default: return .sRGB
      }
    }

    private static func check(_ error: heif_error) throws(ImageError) {
      guard error.code != heif_error_Ok else { return }
      let message = error.message.map { String(cString: $0) } ?? "libheif cannot decode it"
      guard error.subcode != heif_suberror_Security_limit_exceeded else {
        throw .unsupported("HEIF: \(message)")
      }
      switch error.code {
      case heif_error_Unsupported_filetype, heif_error_Unsupported_feature:
        throw .unsupported("HEIF: \(message)")
      default: throw error.subcode == heif_suberror_End_of_data ? .truncated : .damaged(message)
      }
    }
  }
#endif
