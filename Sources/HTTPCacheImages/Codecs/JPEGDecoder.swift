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
      try JPEGScans.check(bytes, header, pixelLimit: options.pixelLimit)
      try ImageError.checkCancellation()
      guard let handle = tjInitDecompress() else { throw .damaged("libjpeg-turbo does not begin") }
      defer { tjDestroy(handle) }
      let isCMYK = try Self.readHeader(handle, bytes, expecting: header.size)
      let scale = Self.scale(of: header, options.neededSize)
      let size = ImageSize(
        width: (header.size.width + scale - 1) / scale, height: (header.size.height + scale - 1) / scale)
      var (pixels, isWarned) = Self.pixels(handle, bytes, size, isCMYK: isCMYK)
      if isWarned, !Self.hasEnd(bytes, header) {
        try ImageError.checkCancellation()
        // Only the end marker may be missing. With one, libjpeg warns if pixels are.
        (pixels, isWarned) = Self.pixels(handle, BodyBytes(bytes.array + [0xFF, 0xD9]), size, isCMYK: isCMYK)
        if isWarned { throw .truncated }
      }
      if isWarned { try Self.checkWarning(handle) }
      return try DecodedImage(
        size: size, pixels: pixels, colorSpace: isCMYK ? .sRGB : ImageColorSpace(profile: header.profile),
        isOpaque: true
      ).upright(from: header.orientation, original: header.size)
    }

    private static func pixels(
      _ handle: tjhandle, _ bytes: BodyBytes, _ size: ImageSize, isCMYK: Bool
    ) -> (BodyBytes, isWarned: Bool) {
      var status: Int32 = 0
      let format = isCMYK ? TJPF_CMYK : TJPF_RGBA
      let pixels = DecodedImage.makePixels(size) { target in
        status = bytes.withUnsafeBytes { source in
          tjDecompress2(
            handle, source.baseAddress, UInt(source.count), target, Int32(size.width), Int32(size.width * 4),
            Int32(size.height), Int32(format.rawValue), TJFLAG_LIMITSCANS)
        }
        if isCMYK { convertCMYK(target, count: size.width * size.height) }
      }
      return (pixels, status != 0)
    }

    /// - Returns: whether the pixels are cyan, magenta, yellow and black.
    private static func readHeader(
      _ handle: tjhandle, _ bytes: BodyBytes, expecting size: ImageSize
    ) throws(ImageError) -> Bool {
      var (width, height, sampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
      let status = bytes.withUnsafeBytes {
        tjDecompressHeader3(handle, $0.baseAddress, UInt($0.count), &width, &height, &sampling, &colors)
      }
      let message = message(handle)
      // TurboJPEG names a few samplings of colors, and libjpeg decodes all: the numbers above are set all the same.
      guard
        status == 0 || tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue)
          || message.contains("Could not determine subsampling")
      else { throw error(message) }
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

    /// Warnings are common in files that every viewer shows.
    private static func checkWarning(_ handle: tjhandle) throws(ImageError) {
      let message = message(handle)
      guard warnings.contains(where: { message.hasPrefix($0) }) else { throw error(message) }
    }

    /// Whether the end marker comes behind the start of the first scan.
    private static func hasEnd(_ bytes: BodyBytes, _ header: JPEGHeader) -> Bool {
      bytes.withUnsafeBytes { bytes in
        var index = bytes.count - 1
        while index > header.scanStart {
          if bytes[index] == 0xD9, bytes[index - 1] == 0xFF { return true }
          index -= 1
        }
        return false
      }
    }

    /// libjpeg's messages about files that are sound, in a process that it does not have.
    private static let unsupported = ["Unsupported", "Sorry", "CCIR601", "Requested feature was omitted"]

    private static func error(_ message: String) -> ImageError {
      unsupported.contains { message.hasPrefix($0) } ? .unsupported("JPEG: \(message)") : .damaged(message)
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
