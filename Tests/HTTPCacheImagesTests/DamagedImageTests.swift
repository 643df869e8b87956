#if ImageCodecs
  import HTTPCacheImages
  import HTTPCaching
  import Testing

  @Suite("Damaged and lying images", .timeLimit(.minutes(10)))
  struct DamagedImageTests {
    private static func bytes(_ index: Int) throws -> [UInt8] {
      let image = try Picture.make(33, 21, alpha: index == 1)
      return try CodecTests.encoders[index].encode(image).array
    }

    @Test("cut short at any byte: an error, never an image", arguments: 0..<4)
    func truncated(index: Int) throws {
      let bytes = try Self.bytes(index)
      // The last 16 bytes of a PNG are a checksum and the end chunk: all pixels come before them.
      for length in 0..<bytes.count - 16 {
        #expect(throws: ImageError.self, "\(length) of \(bytes.count)") {
          try ImageFormats.standard.decode(BodyBytes(bytes[..<length]))
        }
        // Only the process must live: the header may be there.
        _ = try? ImageFormats.standard.size(of: BodyBytes(bytes[..<length]))
      }
    }

    @Test("the error says that the end is missing", arguments: 0..<3)
    func saysTruncated(index: Int) throws {
      let bytes = try Self.bytes(index)
      #expect(throws: ImageError.truncated) {
        try ImageFormats.standard.decode(BodyBytes(bytes[..<(bytes.count - 40)]))
      }
    }

    @Test("each byte changed: an image or an error, and the process lives", arguments: 0..<4)
    func changed(index: Int) throws {
      let bytes = try Self.bytes(index)
      for position in bytes.indices {
        for change: UInt8 in [0xFF, 0x01, 0x80] {
          var damaged = bytes
          damaged[position] ^= change
          let options = ImageDecodingOptions(pixelLimit: 1_000_000)
          guard let image = try? ImageFormats.standard.decode(BodyBytes(damaged), options: options) else {
            continue
          }
          #expect(image.width * image.height <= 1_000_000)
        }
      }
    }

    @Test("a header of a thousand million pixels, or of none, is refused before memory is taken")
    func lyingJPEG() throws {
      var bytes = try Self.bytes(0)
      let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
      bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
      #expect(throws: ImageError.tooManyPixels(width: 65_535, height: 65_535, limit: 100_000_000)) {
        try ImageFormats.standard.decode(BodyBytes(bytes))
      }
      bytes.replaceSubrange(frame + 5..<frame + 9, with: [0, 21, 0, 0])
      #expect(throws: ImageError.emptyImage) { try ImageFormats.standard.decode(BodyBytes(bytes)) }
    }

    @Test("a PNG's too", arguments: [(100_000, 10_000), (1_000_000_000, 1), (0, 5), (5, 0)])
    func lyingPNG(size: (Int, Int)) throws {
      var bytes = try Self.bytes(1)
      let header =
        Array("IHDR".utf8)
        + [size.0, size.1].flatMap { number in [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) } }
        + [8, 6, 0, 0, 0]
      let sum = Self.checksum(header)
      bytes.replaceSubrange(12..<33, with: header + [24, 16, 8, 0].map { UInt8(sum >> $0 & 0xFF) })
      #expect(
        throws: size.0 * size.1 == 0
          ? ImageError.emptyImage
          : .tooManyPixels(width: size.0, height: size.1, limit: 100_000_000)
      ) {
        try ImageFormats.standard.decode(BodyBytes(bytes))
      }
    }

    @Test("a frame header that comes twice cannot pass a second size")
    func twoFrames() throws {
      var bytes = try Self.bytes(0)
      let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
      let length = Int(bytes[frame + 2]) << 8 | Int(bytes[frame + 3])
      var other = Array(bytes[frame..<frame + 2 + length])
      other.replaceSubrange(5..<9, with: [0, 8, 0, 8])
      bytes.insert(contentsOf: other, at: frame + 2 + length)
      #expect(throws: ImageError.self) { try ImageFormats.standard.decode(BodyBytes(bytes)) }
    }

    /// The CRC of PNG (ISO 15948, annex D).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
      var sum = UInt32.max
      for byte in bytes {
        sum ^= UInt32(byte)
        for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
      }
      return ~sum
    }
  }
#endif
