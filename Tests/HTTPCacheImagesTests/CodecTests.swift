#if ImageCodecs
  import HTTPCacheImages
  import HTTPCaching
  import Testing

  @Suite("Codecs", .timeLimit(.minutes(10)))
  struct CodecTests {
    static let encoders: [any ImageEncoder] = [
      JPEGEncoder(quality: 95), PNGEncoder(), WebPEncoder(quality: 95), WebPEncoder(quality: nil),
    ]

    @Test("what an encoder writes, its decoder reads", arguments: 0..<4)
    func roundTrip(index: Int) throws {
      let image = try Picture.make(61, 47)
      let encoder = Self.encoders[index]
      let bytes = try encoder.encode(image)
      #expect(try ImageFormats.standard.size(of: bytes) == image.size)
      let decoded = try ImageFormats.standard.decode(bytes)
      let difference = try #require(Picture.difference(image, decoded))
      #expect(difference <= (encoder is PNGEncoder ? 0 : 4), "\(encoder.contentType)")
      #expect(decoded.originalSize == image.size && decoded.isOpaque)
    }

    @Test("transparency is kept by PNG and WebP, and mixed with white for JPEG")
    func transparency() throws {
      let image = try Picture.make(40, 30, alpha: true)
      #expect(Picture.difference(image, try ImageFormats.standard.decode(PNGEncoder().encode(image))) == 0)
      let webP = try ImageFormats.standard.decode(WebPEncoder(quality: nil).encode(image))
      #expect(try #require(Picture.difference(image, webP)) < 0.1)
      #expect(!webP.isOpaque)
      let clear = try Picture.plain(16, 16, SIMD4(200, 0, 0, 0))
      let jpeg = try ImageFormats.standard.decode(JPEGEncoder().encode(clear))
      #expect(jpeg.pixel(x: 8, y: 8) == SIMD4(255, 255, 255, 255))
    }

    /// A picture with a color profile.
    private static func profiled() throws -> (image: DecodedImage, profile: [UInt8]) {
      // libspng and libwebp check the profile's own length, its version, class, space and signature.
      var profile = [UInt8](repeating: 0, count: 100_000)
      profile.replaceSubrange(0..<4, with: [0, 1, 0x86, 0xA0])
      profile.replaceSubrange(8..<12, with: [2, 16, 0, 0])
      profile.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
      profile.replaceSubrange(36..<40, with: Array("acsp".utf8))
      let picture = try Picture.make(20, 10)
      let image = try DecodedImage(
        size: picture.size, pixels: picture.pixels, colorSpace: .profile(BodyBytes(profile)), isOpaque: true)
      return (image, profile)
    }

    @Test("a color profile goes through each format unchanged", arguments: [0, 1, 2])
    func profile(index: Int) throws {
      let (image, profile) = try Self.profiled()
      let decoded = try ImageFormats.standard.decode(Self.encoders[index].encode(image))
      guard case .profile(let kept) = decoded.colorSpace else {
        Issue.record("no profile")
        return
      }
      #expect(kept.array == profile)
    }

    /// The end of a WebP behind its pixels: a chunk that is longer than the file, bytes too few for a chunk, and EXIF of an
    /// odd length without padding.
    private static func badEnd(_ index: Int) -> [UInt8] {
      switch index {
      case 0: return [0x58, 0x4D, 0x50, 0x20, 200, 0, 0, 0, 1, 2]
      case 1: return [1, 2, 3, 4]
      default:
        var chunk: [UInt8] = [0x45, 0x58, 0x49, 0x46, 23, 0, 0, 0]
        chunk += OrientationTests.turned
        chunk.append(0)
        return chunk
      }
    }

    @Test("a damaged chunk behind the pixels of a WebP takes neither profile nor turn away", arguments: 0..<3)
    func damagedChunk(index: Int) throws {
      let (image, profile) = try Self.profiled()
      let orientation = index == 2 ? ImageOrientation.right : .up
      for encoder in [WebPEncoder(quality: 95), WebPEncoder(quality: nil)] {
        var bytes = try encoder.encode(image).array
        let whole = try ImageFormats.standard.decode(BodyBytes(bytes))
        bytes += Self.badEnd(index)
        let length = bytes.count - 8
        bytes.replaceSubrange(4..<8, with: [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: length >> $0) })
        // The header announces EXIF.
        bytes[20] |= 0x08
        let decoded = try ImageFormats.standard.decode(BodyBytes(bytes))
        #expect(decoded.orientation == orientation)
        #expect(try ImageFormats.standard.size(of: BodyBytes(bytes)) == decoded.size)
        if orientation == .up { #expect(decoded.pixels.array == whole.pixels.array) }
        guard case .profile(let kept) = decoded.colorSpace else {
          Issue.record("no profile")
          continue
        }
        #expect(kept.array == profile)
      }
    }

    @Test("JPEG is decoded at 1/8, 1/4 or 1/2 if twice the needed size is left")
    func reduced() throws {
      let bytes = try JPEGEncoder().encode(Picture.make(801, 400))
      for (needed, width) in [(50, 101), (51, 201), (100, 201), (101, 401), (300, 801)] {
        let options = ImageDecodingOptions(neededSize: ImageSize(width: needed, height: 10))
        let image = try JPEGDecoder().decode(bytes, options: options)
        #expect(image.width == width, "\(needed)")
        #expect(image.originalSize == ImageSize(width: 801, height: 400))
      }
    }

    @Test("the limit of pixels is compared with the header, not with the reduced size", arguments: 0..<3)
    func pixelLimit(index: Int) throws {
      let bytes = try Self.encoders[index].encode(Picture.make(100, 50))
      let small = ImageSize(width: 10, height: 5)
      let error = ImageError.tooManyPixels(width: 100, height: 50, limit: 4_999)
      #expect(throws: error) {
        try ImageFormats.standard.decode(
          bytes, options: ImageDecodingOptions(pixelLimit: 4_999, neededSize: small))
      }
      #expect(throws: Never.self) {
        try ImageFormats.standard.decode(bytes, options: ImageDecodingOptions(pixelLimit: 5_000))
      }
    }

    @Test("the bytes tell the format; text is no image")
    func recognized() throws {
      let html = BodyBytes(Array("<!doctype html><title>Sign in</title>".utf8))
      #expect(throws: ImageError.notAnImage(contentType: nil)) { try ImageFormats.standard.decode(html) }
      #expect(throws: ImageError.notAnImage(contentType: nil)) {
        try ImageFormats.standard.decode(BodyBytes())
      }
      #expect(throws: ImageError.notAnImage(contentType: nil)) { try ImageFormats([]).size(of: html) }
    }

    @Test("an image has at least one pixel, and the bytes of its pixels")
    func initialiser() {
      #expect(throws: ImageError.emptyImage) {
        try DecodedImage(size: ImageSize(width: 0, height: 4), pixels: BodyBytes())
      }
      #expect(throws: ImageError.damaged("15 bytes are not 2 x 2 pixels")) {
        try DecodedImage(
          size: ImageSize(width: 2, height: 2), pixels: BodyBytes([UInt8](repeating: 0, count: 15)))
      }
    }

    @Test("an encoder refuses what its format cannot hold")
    func tooLarge() throws {
      let wide = try Picture.plain(70_000, 1, SIMD4(1, 2, 3, 255))
      #expect(throws: ImageError.self) { try JPEGEncoder().encode(wide) }
      #expect(throws: ImageError.self) { try WebPEncoder().encode(wide) }
      #expect(throws: Never.self) { try PNGEncoder().encode(wide) }
    }
  }
#endif
