#if ImageCodecs
  import HTTPCaching
  import Testing

  @testable import HTTPCacheImages

  /// EXIF in texts of PNG.
  @Suite("EXIF in a text of PNG", .timeLimit(.minutes(10)))
  struct PNGTextProfileTests {
    /// A text as ImageMagick writes it: lines of 36 bytes.
    private static func text(_ data: [UInt8], length: Int? = nil) -> [UInt8] {
      var text = "\nexif\n      \(length ?? data.count)"
      for (index, byte) in data.enumerated() {
        if index % 36 == 0 { text += "\n" }
        text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      return Array((text + "\n").utf8)
    }

    /// Bytes in the form of zlib, without compression.
    private static func stored(_ data: [UInt8]) -> [UInt8] {
      var (first, second) = (1, 0)
      for byte in data {
        first = (first + Int(byte)) % 65_521
        second = (second + first) % 65_521
      }
      let count = [UInt8(data.count & 255), UInt8(data.count >> 8)]
      return [0x78, 0x01, 1] + count + count.map { ~$0 } + data + ColorSpaceTests.number(second << 16 | first)
    }

    private static let end = ColorSpaceTests.chunk("IEND", [])

    /// The size of the picture of 9 x 5 pixels, which `size` and `decode` agree about.
    private static func size(_ chunks: [[UInt8]], end: [[UInt8]]? = nil) throws -> ImageSize {
      let bytes = try ColorSpaceTests.bytes(chunks, end: end)
      let size = try ImageFormats.standard.decode(bytes).size
      #expect(try ImageFormats.standard.size(of: bytes) == size)
      return size
    }

    private static let upright = ImageSize(width: 9, height: 5)
    private static let exif: [UInt8] = Array("Exif\0\0".utf8) + OrientationTests.turned

    @Test("each kind of text turns the picture", arguments: ["exif", "APP1"])
    func kinds(_ type: String) throws {
      let keyword = Array("Raw profile type \(type)".utf8)
      for data in [Self.exif, OrientationTests.turned] {
        let text = Self.text(data)
        let packed = Self.stored(text)
        for chunk in [
          ColorSpaceTests.chunk("tEXt", keyword + [0] + text),
          ColorSpaceTests.chunk("zTXt", keyword + [0, 0] + packed),
          ColorSpaceTests.chunk("iTXt", keyword + [0, 0, 0, 0, 0] + text),
          ColorSpaceTests.chunk("iTXt", keyword + [0, 1, 0, 0, 0] + packed),
        ] {
          #expect(try Self.size([chunk]) == Self.upright.transposed)
        }
      }
    }

    @Test("eXIf comes before a text, XMP of the same type is passed over, and other texts turn nothing")
    func order() throws {
      let keyword = Array("Raw profile type APP1".utf8) + [0]
      let text = ColorSpaceTests.chunk("tEXt", keyword + Self.text(Self.exif))
      var plain = OrientationTests.turned
      plain[18] = 1
      let chunk = ColorSpaceTests.chunk("eXIf", plain)
      #expect(try Self.size([text, chunk]) == Self.upright)
      #expect(try Self.size([text], end: [chunk, Self.end]) == Self.upright)
      let xmp = ColorSpaceTests.chunk(
        "tEXt", keyword + Self.text(Array("http://ns.adobe.com/xap/1.0/\0".utf8)))
      #expect(try Self.size([xmp, text]) == Self.upright.transposed)
      let other = ColorSpaceTests.chunk("tEXt", Array("Comment\0".utf8) + Self.text(Self.exif))
      #expect(try Self.size([other]) == Self.upright)
      // Only texts before the pixels are read.
      #expect(try Self.size([], end: [text, Self.end]) == Self.upright)
    }

    @Test("a text that is cut, has another length or no digits says nothing")
    func damaged() {
      let whole = Self.text(Self.exif)
      #expect(PNGTextProfile.exif(in: whole).map(Array.init) == OrientationTests.turned)
      for length in 0..<whole.count - 1 { #expect(PNGTextProfile.exif(in: Array(whole[..<length])) == nil) }
      for length in [0, Self.exif.count + 1, 1 << 20, 1 << 21, .max] {
        #expect(PNGTextProfile.exif(in: Self.text(Self.exif, length: length)) == nil, "\(length)")
      }
      for text in [
        "", "\n", "\nexif", "\nexif\n", "\nexif\n-4\n49492a00", "\nexif\n4\n4949zz00", "\nexif\n4x49492a00",
      ] {
        #expect(PNGTextProfile.exif(in: Array(text.utf8)) == nil, "\(text)")
      }
      #expect(PNGTextProfile.exif(in: Array("exif\r\n 4\r\n49 49\t2A\n00 more".utf8))?.count == 4)
    }
  }
#endif
