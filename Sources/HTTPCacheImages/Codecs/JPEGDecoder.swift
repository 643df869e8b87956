#if ImageCodecs
  import CTurboJPEG
  public import HTTPCaching

  /// Decodes JPEG with libjpeg-turbo: baseline and progressive, gray, YCbCr, RGB and CMYK. Reads EXIF's
  /// orientation and the ICC profile.
  public struct JPEGDecoder: ImageDecoder {
    /// Makes a decoder.
    public init() {}

    /// Whether bytes begin like JPEG.
    public func recognizes(_ bytes: BodyBytes) -> Bool { JPEGHeader.recognizes(bytes) }

    /// The size of the image, upright.
    ///
    /// - Throws: `ImageError`.
    public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
      let header = try JPEGHeader(bytes)
      return header.orientation.isTransposed ? header.size.transposed : header.size
    }

    /// Decodes the image; at 1/2, 1/4 or 1/8 of its scale if the result has at least twice the needed width and
    /// height.
    ///
    /// - Throws: `ImageError`.
    public func decode(
      _ bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> DecodedImage {
      let header = try JPEGHeader(bytes)
      try header.size.check(pixelLimit: options.pixelLimit)
      guard let handle = tjInitDecompress() else { throw .damaged("libjpeg-turbo does not begin") }
      defer { tjDestroy(handle) }
      let isCMYK = try Self.readHeader(handle, bytes, expecting: header.size)
      let scale = Self.scale(of: header, options.neededSize)
      let size = ImageSize(
        width: (header.size.width + scale - 1) / scale, height: (header.size.height + scale - 1) / scale)
      var status: Int32 = 0
      let format = isCMYK ? TJPF_CMYK : TJPF_RGBA
      let pixels = DecodedImage.makePixels(size) { target in
        status = bytes.withUnsafeBytes { source in
          tjDecompress2(
            handle, source.baseAddress, UInt(source.count), target, Int32(size.width), Int32(size.width * 4),
            Int32(size.height), Int32(format.rawValue), TJFLAG_LIMITSCANS)
        }
        if isCMYK { Self.convertCMYK(target, count: size.width * size.height) }
      }
      if status != 0 { try Self.checkWarning(handle, of: bytes, header: header) }
      return try DecodedImage(
        size: size, pixels: pixels, colorSpace: isCMYK ? .sRGB : header.profile.map { .profile($0) } ?? .sRGB,
        isOpaque: true
      ).upright(from: header.orientation, original: header.size)
    }

    /// - Returns: whether the pixels are cyan, magenta, yellow and black.
    private static func readHeader(
      _ handle: tjhandle, _ bytes: BodyBytes, expecting size: ImageSize
    ) throws(ImageError) -> Bool {
      var (width, height, sampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
      let status = bytes.withUnsafeBytes {
        tjDecompressHeader3(handle, $0.baseAddress, UInt($0.count), &width, &height, &sampling, &colors)
      }
      guard status == 0 || tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) else {
        throw .damaged(message(handle))
      }
      // libjpeg-turbo allocates by these numbers: they must be the ones that were compared with the limit.
      guard ImageSize(width: Int(width), height: Int(height)) == size else {
        throw .damaged("the frame header is there twice")
      }
      return colors == Int32(TJCS_CMYK.rawValue) || colors == Int32(TJCS_YCCK.rawValue)
    }

    /// The divisor: leaves a factor of two for the resampling that follows, whose filter is better.
    private static func scale(of header: JPEGHeader, _ needed: ImageSize?) -> Int {
      guard let needed else { return 1 }
      let size = header.orientation.isTransposed ? needed.transposed : needed
      let fits = { (scale: Int) in
        header.size.width / scale >= size.width * 2 && header.size.height / scale >= size.height * 2
      }
      return [8, 4, 2].first(where: fits) ?? 1
    }

    /// The beginnings of libjpeg's warnings. TurboJPEG's error code does not tell: it stays that of a warning when
    /// an error follows it, which leaves pixels unwritten.
    private static let warnings = [
      "Premature end of JPEG file", "Corrupt JPEG data", "Inconsistent progression sequence",
      "Unknown Adobe color transform code", "Warning: unknown JFIF revision",
      "Invalid SOS parameters for sequential",
    ]

    /// Warnings are common in files that every viewer shows. Only a missing end is an error.
    private static func checkWarning(
      _ handle: tjhandle, of bytes: BodyBytes, header: JPEGHeader
    ) throws(ImageError) {
      let message = message(handle)
      let hasEnd = bytes.withUnsafeBytes { bytes in
        var index = bytes.count - 1
        while index > header.scanStart {
          if bytes[index] == 0xD9, bytes[index - 1] == 0xFF { return true }
          index -= 1
        }
        return false
      }
      guard hasEnd else { throw .truncated }
      guard warnings.contains(where: { message.hasPrefix($0) }) else { throw .damaged(message) }
    }

    private static func message(_ handle: tjhandle) -> String {
      tjGetErrorStr2(handle).map { String(cString: $0) } ?? ""
    }

    /// Adobe's inverted CMYK, which is the only kind in use, to RGB without a profile.
    private static func convertCMYK(_ pixels: UnsafeMutablePointer<SIMD4<UInt8>>, count: Int) {
      for index in 0..<count {
        let pixel = SIMD4<UInt32>(truncatingIfNeeded: pixels[index])
        let mixed = (pixel &* SIMD4(repeating: pixel.w) &+ SIMD4(repeating: 127)) / SIMD4(repeating: 255)
        pixels[index] = SIMD4(UInt8(mixed.x), UInt8(mixed.y), UInt8(mixed.z), 255)
      }
    }
  }
#endif
