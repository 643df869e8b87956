#if ImageCodecs
  import CSpng
  public import HTTPCaching

  /// Decodes PNG with libspng: all color types and bit depths, interlaced or not. 16 bits become 8. Of an animated
  /// PNG, the default image. The colors that the file states by `cICP`, or by `gAMA` and `cHRM`, become an ICC profile.
  public struct PNGDecoder: ImageDecoder {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Makes a decoder.
    public init() {}

    /// Whether bytes begin like PNG.
    public func recognizes(_ bytes: BodyBytes) -> Bool { bytes.prefix(8).array == Self.signature }

    /// The size of the image, upright.
    ///
    /// - Throws: `ImageError`.
    public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
      try Self.withContext(bytes) { (context) throws(ImageError) in
        let size = try Self.storedSize(context)
        return Self.orientation(context, bytes).isTransposed ? size.transposed : size
      }
    }

    /// Decodes the image.
    ///
    /// - Throws: `ImageError`.
    public func decode(
      _ bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> DecodedImage {
      try Self.withContext(PNGTransparency.masked(bytes)) { (context) throws(ImageError) in
        let size = try Self.storedSize(context)
        try size.check(pixelLimit: options.pixelLimit)
        // Read the chunks before the pixels first: after the pixels libspng reads on to the end of the file, and gives no
        // chunk if this end is missing or damaged.
        let isOpaque = try Self.isOpaque(context)
        let stated = try Self.codePoints(in: bytes)
        let colorSpace = stated?.colorSpace ?? Self.colorSpace(context)
        let orientation = Self.orientation(context, bytes)
        var status: Int32 = 0
        let pixels = DecodedImage.makePixels(size) { target in
          status = Self.decode(context, width: size.width, into: target)
          if status == 0, stated?.isLimited == true {
            SampleRange.expand(target, count: size.width * size.height)
          }
        }
        try ImageError.checkCancellation()
        guard status == 0 else { throw Self.error(status) }
        return try DecodedImage(size: size, pixels: pixels, colorSpace: colorSpace, isOpaque: isOpaque)
          .upright(from: orientation, original: size)
      }
    }

    /// Decodes row by row, up to the last one or until the task is cancelled. The rows of an interlaced image come several
    /// times.
    private static func decode(
      _ context: OpaquePointer, width: Int, into target: UnsafeMutablePointer<SIMD4<UInt8>>
    ) -> Int32 {
      var status = spng_decode_image(
        context, nil, 0, Int32(SPNG_FMT_RGBA8.rawValue),
        Int32(SPNG_DECODE_TRNS.rawValue | SPNG_DECODE_PROGRESSIVE.rawValue))
      while status == 0, !Task.isCancelled {
        var row = spng_row_info()
        status = spng_get_row_info(context, &row)
        guard status == 0 else { break }
        status = spng_decode_row(context, target + Int(row.row_num) * width, width * 4)
      }
      return status == Int32(SPNG_EOI.rawValue) ? 0 : status
    }

    /// Calls `body` with a decoder of the bytes. Chunks beside the pixels are limited to 8 MiB each and 16 MiB in all.
    private static func withContext<Result>(
      _ bytes: BodyBytes, _ body: (OpaquePointer) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
      if PNGTransparency.isCgBI(bytes) { throw .unsupported("Apple's CgBI form of PNG") }
      guard let context = spng_ctx_new(0) else { throw .damaged("libspng does not begin") }
      defer { spng_ctx_free(context) }
      spng_set_chunk_limits(context, 8 << 20, 16 << 20)
      return try bytes.withUnsafeBytes { (buffer) throws(ImageError) in
        guard buffer.count > 0 else { throw .truncated }
        let status = spng_set_png_buffer(context, buffer.baseAddress, buffer.count)
        guard status == 0 else { throw error(status) }
        return try body(context)
      }
    }

    private static func storedSize(_ context: OpaquePointer) throws(ImageError) -> ImageSize {
      var header = spng_ihdr()
      let status = spng_get_ihdr(context, &header)
      switch status {
      case 0: return ImageSize(width: Int(header.width), height: Int(header.height))
      case Int32(SPNG_EWIDTH.rawValue), Int32(SPNG_EHEIGHT.rawValue): throw .emptyImage
      default: throw error(status)
      }
    }

    /// Whether no pixel can be transparent. Reads all chunks before the pixels.
    ///
    /// - Throws: the error of these chunks. Ask libspng for no chunk before: it names an error only once.
    private static func isOpaque(_ context: OpaquePointer) throws(ImageError) -> Bool {
      var header = spng_ihdr()
      var transparency = spng_trns()
      let status = spng_get_trns(context, &transparency)
      guard status == 0 || status == Int32(SPNG_ECHUNKAVAIL.rawValue) else { throw error(status) }
      return status != 0 && spng_get_ihdr(context, &header) == 0 && header.color_type & 4 == 0
    }

    /// The maximum length of EXIF behind the pixels, whose checksum is computed here.
    private static let exifLimit = 1 << 20

    /// The turn that EXIF states. `eXIf` may stand behind the pixels (PNG §5.6), where libspng gives it only if the end of
    /// the file is intact. A text tells only without `eXIf`.
    private static func orientation(_ context: OpaquePointer, _ bytes: BodyBytes) -> ImageOrientation {
      var exif = spng_exif()
      if spng_get_exif(context, &exif) == 0, let data = exif.data {
        return ImageOrientation(exif: Array(UnsafeRawBufferPointer(start: data, count: exif.length))[...])
      }
      if let chunk = PNGChunks.data(of: "eXIf", in: bytes, passesPixels: true), chunk.count <= exifLimit,
        PNGChunks.isIntact(chunk, in: bytes)
      {
        return ImageOrientation(exif: bytes[chunk].array[...])
      }
      return PNGTextProfile.exif(context).map { ImageOrientation(exif: $0) } ?? .up
    }

    /// The first of `iCCP`, `sRGB`, and `gAMA` with `cHRM` (PNG §4.3). `cICP` comes before these.
    private static func colorSpace(_ context: OpaquePointer) -> ImageColorSpace {
      var profile = spng_iccp()
      if spng_get_iccp(context, &profile) == 0, let data = profile.profile {
        return ImageColorSpace(
          profile: BodyBytes(UnsafeRawBufferPointer(start: data, count: profile.profile_len)))
      }
      var (intent, gamma, chroma) = (UInt8(0), 0.0, spng_chrm())
      guard spng_get_srgb(context, &intent) != 0 else { return .sRGB }
      let hasGamma = spng_get_gama(context, &gamma) == 0
      let hasPrimaries = spng_get_chrm(context, &chroma) == 0
      let primaries = ColorEncoding.Primaries(
        (chroma.red_x, chroma.red_y), (chroma.green_x, chroma.green_y), (chroma.blue_x, chroma.blue_y),
        white: (chroma.white_point_x, chroma.white_point_y))
      return ColorEncoding(gamma: hasGamma ? gamma : nil, primaries: hasPrimaries ? primaries : nil)
        .flatMap { ImageColorSpace($0) } ?? .sRGB
    }

    /// The color space and the range of `cICP` (PNG §11.3.2.6). One with a matrix or a range that PNG does not have, or with
    /// reserved code points, is passed over.
    ///
    /// - Throws: `ImageError.unsupported` for code points that no profile can state.
    private static func codePoints(
      in bytes: BodyBytes
    ) throws(ImageError) -> (colorSpace: ImageColorSpace, isLimited: Bool)? {
      guard let chunk = PNGChunks.data(of: "cICP", in: bytes), chunk.count == 4,
        PNGChunks.isIntact(chunk, in: bytes), case let data = bytes[chunk].array, data[2] == 0, data[3] <= 1,
        let colorSpace = try ImageColorSpace(codePoints: Int(data[0]), Int(data[1]))
      else { return nil }
      return (colorSpace, data[3] == 0)
    }

    private static func isEnd(_ status: Int32) -> Bool {
      [SPNG_EOF, SPNG_IO_EOF, SPNG_EIDAT_TOO_SHORT].contains { $0.rawValue == status }
    }

    private static func error(_ status: Int32) -> ImageError {
      if status == Int32(SPNG_ECHUNK_LIMITS.rawValue) {
        return .unsupported("PNG with more data beside its pixels than libspng's limits permit")
      }
      return isEnd(status) ? .truncated : .damaged(String(cString: spng_strerror(status)))
    }
  }
#endif
