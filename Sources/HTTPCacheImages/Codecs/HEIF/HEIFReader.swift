#if ImageCodecs
  import CHeif
  import HTTPCaching

  /// Decodes the primary image of an AVIF or HEIC file with libheif, and its alpha apart from it: libheif puts both together
  /// without comparing their sizes.
  struct HEIFReader {
    private let context: OpaquePointer
    private let handle: OpaquePointer
    private let items: HEIFItems
    private let bytes: UnsafeRawBufferPointer
    private let pixelLimit: Int

    /// Calls `body` with a reader of a file.
    ///
    /// - Parameter pixelLimit: the maximum of pixels; nil if `body` decodes none.
    /// - Throws: `ImageError`.
    static func read<Result>(
      _ bytes: BodyBytes, pixelLimit: Int?, _ body: (HEIFReader) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
      let items = try bytes.withUnsafeBytes { (buffer) throws(ImageError) in
        let items = try HEIFItems(buffer)
        // libheif follows references when it reads the file.
        try items.check(pixelLimit: unlimited, in: buffer)
        return items
      }
      return try items.prepared(bytes).withUnsafeBytes { (buffer) throws(ImageError) in
        guard let context = heif_context_alloc() else { throw .damaged("libheif does not begin") }
        defer { heif_context_free(context) }
        try check(heif_context_read_from_memory_without_copy(context, buffer.baseAddress, buffer.count, nil))
        return try withHandle(context, items.primary) { (handle) throws(ImageError) in
          try body(
            HEIFReader(
              context: context, handle: handle, items: items, bytes: buffer,
              pixelLimit: pixelLimit ?? unlimited))
        }
      }
    }

    private static let unlimited = Int.max / 8

    private static func withHandle<Result>(
      _ context: OpaquePointer, _ item: Int, _ body: (OpaquePointer) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
      var handle: OpaquePointer?
      try check(heif_context_get_image_handle(context, heif_item_id(truncatingIfNeeded: item), &handle))
      guard let handle else { throw .damaged("its item \(item) is missing") }
      defer { heif_image_handle_release(handle) }
      return try body(handle)
    }

    /// The size of the image, cropped and turned. libheif 1.15 does not turn it where the turn stands before the size.
    ///
    /// - Throws: `ImageError`.
    func size() throws(ImageError) -> ImageSize {
      var size = storedSize
      for transform in try items.transforms(of: items.primary, in: bytes) {
        size = try size.applying(transform)
      }
      return size
    }

    /// The size of the image before it is cropped and turned.
    private var storedSize: ImageSize {
      ImageSize(
        width: Int(heif_image_handle_get_ispe_width(handle)),
        height: Int(heif_image_handle_get_ispe_height(handle)))
    }

    /// Decodes the image.
    ///
    /// - Throws: `ImageError`.
    func image() throws(ImageError) -> DecodedImage {
      try size().check(pixelLimit: pixelLimit)
      try items.check(pixelLimit: pixelLimit, in: bytes)
      let isMonochrome = items.isMonochrome(items.primary, in: bytes)
      if !isMonochrome {
        let bits = Int(heif_image_handle_get_luma_bits_per_pixel(handle))
        try items.checkColors(of: items.primary, bits: bits, in: bytes)
      }
      let colorSpace = try colorSpace()
      let pixels = try isMonochrome ? gray() : color()
      let alpha = try alpha()
      var image = try DecodedImage(
        size: storedSize, pixels: alpha.map { combined(pixels, $0) } ?? pixels,
        colorSpace: colorSpace, isOpaque: alpha == nil)
      for transform in try items.transforms(of: items.primary, in: bytes) {
        image = try image.applying(transform)
      }
      return image
    }

    private var otherSize: ImageError {
      items.isOtherOperatingPoint(items.primary, in: bytes)
        ? .unsupported("HEIF: an operating point of AV1 other than the first")
        : .damaged("its picture has another size than its header")
    }

    /// Decodes an item, neither cropped nor turned.
    private func withImage<Result>(
      _ handle: OpaquePointer, _ space: heif_colorspace, _ chroma: heif_chroma,
      _ body: (OpaquePointer?) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
      try ImageError.checkCancellation()
      let settings = heif_decoding_options_alloc()
      defer { heif_decoding_options_free(settings) }
      settings?.pointee.convert_hdr_to_8bit = 1
      settings?.pointee.ignore_transformations = 1
      var image: OpaquePointer?
      try Self.check(heif_decode_image(handle, &image, space, chroma, settings))
      defer { heif_image_release(image) }
      return try body(image)
    }

    private func color() throws(ImageError) -> BodyBytes {
      let size = storedSize
      return try withImage(handle, heif_colorspace_RGB, heif_chroma_interleaved_RGBA) {
        (image) throws(ImageError) in
        var stride: Int32 = 0
        // The decoded picture may have another size than the header.
        guard let plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride),
          Int(heif_image_get_width(image, heif_channel_interleaved)) == size.width,
          Int(heif_image_get_height(image, heif_channel_interleaved)) == size.height,
          Int(stride) >= size.width * 4
        else { throw otherSize }
        return DecodedImage.makePixels(size) { target in
          for row in 0..<size.height {
            UnsafeMutableRawPointer(target + row * size.width)
              .copyMemory(from: plane + row * Int(stride), byteCount: size.width * 4)
          }
        }
      }
    }

    /// The pixels of an image without colors: libheif does not bring a limited range to the full one.
    private func gray() throws(ImageError) -> BodyBytes {
      let plane = try plane(of: handle, expandsRange: true)
      guard plane.size == storedSize else { throw otherSize }
      return DecodedImage.makePixels(plane.size) { target in
        for (index, sample) in plane.samples.enumerated() {
          target[index] = SIMD4(sample, sample, sample, 255)
        }
      }
    }

    /// The samples of an image of one channel.
    ///
    /// - Parameter expandsRange: whether to bring a limited range to the full one (ITU-T H.273, equation 20).
    private func plane(of handle: OpaquePointer, expandsRange: Bool) throws(ImageError) -> HEIFPlane {
      try withImage(handle, heif_colorspace_undefined, heif_chroma_undefined) { (image) throws(ImageError) in
        let channel =
          heif_image_has_channel(image, heif_channel_Y) != 0 ? heif_channel_Y : heif_channel_R
        var stride: Int32 = 0
        let size = ImageSize(
          width: Int(heif_image_get_width(image, channel)), height: Int(heif_image_get_height(image, channel))
        )
        let bits = Int(heif_image_get_bits_per_pixel_range(image, channel))
        let bytesPerSample = bits > 8 ? 2 : 1
        guard let plane = heif_image_get_plane_readonly(image, channel, &stride), (8...16).contains(bits),
          Int(stride) >= size.width * bytesPerSample
        else { throw .damaged("libheif cannot decode it") }
        try size.check(pixelLimit: pixelLimit)
        let table = SampleRange.table(bits: bits, isLimited: expandsRange && Self.isLimited(image))
        let samples = [UInt8](unsafeUninitializedCapacity: size.width * size.height) { samples, count in
          for row in 0..<size.height {
            let source = UnsafeRawPointer(plane + row * Int(stride))
            for x in 0..<size.width {
              let sample =
                bits > 8
                ? Int(source.load(fromByteOffset: x * 2, as: UInt16.self))
                : Int(source.load(fromByteOffset: x, as: UInt8.self))
              samples[row * size.width + x] = table[min(sample, table.count - 1)]
            }
          }
          count = size.width * size.height
        }
        return HEIFPlane(size: size, samples: samples)
      }
    }

    private static func isLimited(_ image: OpaquePointer?) -> Bool {
      var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
      guard heif_image_get_nclx_color_profile(image, &profile).code == heif_error_Ok, let profile else {
        return false
      }
      defer { heif_nclx_color_profile_free(profile) }
      return profile.pointee.full_range_flag == 0
    }

    /// - Throws: `ImageError.unsupported` for code points that no profile can state.
    private func colorSpace() throws(ImageError) -> ImageColorSpace {
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
        return try ImageColorSpace(
          codePoints: Int(profile.pointee.color_primaries.rawValue),
          Int(profile.pointee.transfer_characteristics.rawValue)) ?? .sRGB
      default: return .sRGB
      }
    }

    private static func check(_ error: heif_error) throws(ImageError) {
      guard error.code != heif_error_Ok else { return }
      let message =
        error.message.map { String(cString: $0).split(whereSeparator: \.isNewline).joined(separator: " ") }
        ?? "libheif cannot decode it"
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

  extension HEIFReader {
    /// The alpha of the primary image: an image of its own, or one for each tile of a grid; nil if it is opaque.
    private func alpha() throws(ImageError) -> HEIFPlane? {
      let stored = storedSize
      if let item = items.alphaImages(of: items.primary).first {
        return try alpha(item).scaled(to: stored)
      }
      guard items.types[items.primary] == "grid" else { return nil }
      let tiles = items.parts(of: items.primary)
      guard tiles.contains(where: { !items.alphaImages(of: $0).isEmpty }) else { return nil }
      var all = HEIFPlane(size: stored, samples: [UInt8](repeating: 255, count: stored.width * stored.height))
      var (x, y) = (0, 0)
      for tile in tiles {
        let size = try Self.withHandle(context, tile) { (handle) throws(ImageError) in
          ImageSize(
            width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle))
          )
        }
        if let item = items.alphaImages(of: tile).first {
          all.paste(try alpha(item).scaled(to: size), x: x, y: y)
        }
        x += size.width
        if x >= stored.width { (x, y) = (0, y + size.height) }
      }
      return all
    }

    /// Brings the alpha of an AVIF to the full range, which it should have (AV1 Image File Format §4.1): where its bytes
    /// state the limited range, libavif and the browsers expand it. HEVC that states nothing has the limited range, so
    /// alpha of a HEIC stays.
    private func alpha(_ item: Int) throws(ImageError) -> HEIFPlane {
      let isAV1 = items.types[item] == "av01"
      return try Self.withHandle(context, item) { (handle) throws(ImageError) in
        try plane(of: handle, expandsRange: isAV1)
      }
    }

    /// Pixels with alpha, which is not multiplied with the colors.
    private func combined(_ pixels: BodyBytes, _ alpha: HEIFPlane) -> BodyBytes {
      let isPremultiplied = items.isPremultiplied
      return DecodedImage.makePixels(alpha.size) { target in
        pixels.withUnsafeBytes {
          UnsafeMutableRawBufferPointer(start: target, count: $0.count).copyMemory(from: $0)
        }
        for (index, sample) in alpha.samples.enumerated() {
          target[index].w = sample
          guard isPremultiplied, sample != 0, sample != 255 else { continue }
          target[index] = DecodedImage.straight(target[index])
        }
      }
    }
  }
#endif
