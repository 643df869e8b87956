#if ImageCodecs
  import HTTPCacheImages
  import HTTPCaching
  import Testing

  @Suite("GIF89a", .timeLimit(.minutes(10)))
  struct GIFTests {
    private static let (clear, red, green, blue) = (
      SIMD4<UInt8>(0, 0, 0, 0), SIMD4<UInt8>(255, 0, 0, 255), SIMD4<UInt8>(0, 255, 0, 255),
      SIMD4<UInt8>(0, 0, 255, 255)
    )

    private func rows(_ image: DecodedImage) -> [[SIMD4<UInt8>?]] {
      (0..<image.height).map { y in (0..<image.width).map { image.pixel(x: $0, y: y) } }
    }

    private func error(_ bytes: BodyBytes, limit: Int = 100_000_000) -> ImageError? {
      do throws(ImageError) {
        _ = try ImageFormats.standard.frames(of: bytes, options: ImageDecodingOptions(pixelLimit: limit))
      } catch { return error }
      return nil
    }

    @Test("the first picture on a transparent screen")
    func first() throws {
      let sample = GIFSample(pictures: [.init((1, 1, 2, 1), color: 1), .init((0, 0, 4, 3), color: 2)])
      let image = try ImageFormats.standard.decode(sample.bytes)
      let (c, r) = (Self.clear, Self.red)
      #expect(rows(image) == [[c, c, c, c], [c, r, r, c], [c, c, c, c]])
      #expect(!image.isOpaque)
      #expect(try ImageFormats.standard.size(of: sample.bytes) == ImageSize(width: 4, height: 3))
      let whole = GIFSample(pictures: [.init((0, 0, 4, 3), color: 2)])
      #expect(try ImageFormats.standard.decode(whole.bytes).isOpaque)
    }

    @Test("§23: what becomes of a picture before the next one")
    func disposals() throws {
      let (c, r, g, b) = (Self.clear, Self.red, Self.green, Self.blue)
      for (disposal, second, third) in [
        (0, [[r, g, g, r]], [[b, g, g, r]]), (1, [[r, g, g, r]], [[b, g, g, r]]),
        (2, [[r, g, g, r]], [[b, c, c, r]]), (3, [[r, g, g, r]], [[b, r, r, r]]),
      ] as [(UInt8, [[SIMD4<UInt8>?]], [[SIMD4<UInt8>?]])] {
        let sample = GIFSample(
          screen: (4, 1),
          pictures: [
            .init((0, 0, 4, 1), color: 1), .init((1, 0, 2, 1), color: 2, disposal: disposal),
            .init((0, 0, 1, 1), color: 3),
          ])
        let frames = try ImageFormats.standard.frames(of: sample.bytes)
        #expect(frames.map { rows($0.image) } == [[[r, r, r, r]], second, third], "\(disposal)")
        #expect(frames.map(\.duration) == Array(repeating: .milliseconds(100), count: 3))
      }
    }

    @Test("transparent pixels show the picture before")
    func transparent() throws {
      var above = GIFSample.Picture((0, 0, 4, 1), color: 2)
      (above.pixels[1], above.transparent) = (5, 5)
      let sample = GIFSample(screen: (4, 1), pictures: [.init((0, 0, 4, 1), color: 1), above])
      let frames = try ImageFormats.standard.frames(of: sample.bytes)
      #expect(rows(frames[1].image) == [[Self.green, Self.red, Self.green, Self.green]])
    }

    @Test("appendix E: the rows of an interlaced picture, for each height", arguments: 1...17)
    func interlaced(height: Int) throws {
      var picture = GIFSample.Picture((0, 0, 1, height), color: 0)
      let order = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { first, step in
        Array(stride(from: first, to: height, by: step))
      }
      picture.pixels = order.map { UInt8($0 + 10) }
      picture.isInterlaced = true
      let image = try ImageFormats.standard.decode(GIFSample(screen: (1, height), pictures: [picture]).bytes)
      #expect((0..<height).map { image.pixel(x: 0, y: $0)?.x } == (0..<height).map { UInt8($0 + 10) })
    }

    @Test("a first picture beyond the screen enlarges it, and a later one is cut off")
    func beyond() throws {
      let sample = GIFSample(
        screen: (1, 1), pictures: [.init((1, 0, 2, 2), color: 1), .init((2, 1, 9, 9), color: 2)])
      let frames = try ImageFormats.standard.frames(of: sample.bytes)
      #expect(frames.map(\.image.size) == [ImageSize(width: 3, height: 2), ImageSize(width: 3, height: 2)])
      #expect(rows(frames[1].image)[1] == [Self.clear, Self.red, Self.green])
    }

    @Test("the limit of pixels counts all pictures")
    func limit() throws {
      let pictures = Array(repeating: GIFSample.Picture((0, 0, 40, 30), color: 1), count: 5)
      let bytes = GIFSample(screen: (40, 30), pictures: pictures).bytes
      #expect(error(bytes, limit: 6_000) == nil)
      #expect(error(bytes, limit: 4_800) == .tooManyPixels(width: 40, height: 30, limit: 4_800))
      let parts = [pictures[0]] + Array(repeating: GIFSample.Picture((0, 0, 1, 1), color: 2), count: 4)
      #expect(
        error(GIFSample(screen: (40, 30), pictures: parts).bytes, limit: 5_999)
          == .tooManyPixels(width: 40, height: 150, limit: 5_999))
      let large = GIFSample(screen: (60_000, 60_000), pictures: [.init((0, 0, 1, 1), color: 1)]).bytes
      #expect(throws: ImageError.tooManyPixels(width: 60_000, height: 60_000, limit: 100_000_000)) {
        try ImageFormats.standard.decode(large)
      }
    }

    @Test("the limit counts pixels beyond the screen, and some for each picture, before they are decoded")
    func decodedPixels() throws {
      let small = GIFSample.Picture((0, 0, 1, 1), color: 1)
      let large = GIFSample(screen: (1, 1), pictures: [small, .init((0, 0, 100, 50), color: 2)]).bytes
      #expect(error(large, limit: 5_001) == nil)
      #expect(error(large, limit: 5_000) == .tooManyPixels(width: 100, height: 50, limit: 5_000))
      // The second picture has no bytes: its size alone decides.
      var huge = small
      (huge.box, huge.pixels) = ((0, 0, 65_535, 65_535), [])
      let bomb = GIFSample(screen: (1, 1), pictures: [small, huge]).bytes
      #expect(
        error(bomb) == .tooManyPixels(width: 65_535, height: 65_535, limit: 100_000_000))
      #expect(try ImageFormats.standard.decode(bomb).size == ImageSize(width: 1, height: 1))
      let many = GIFSample(screen: (1, 1), pictures: Array(repeating: small, count: 11)).bytes
      #expect(error(many, limit: 641) == nil)
      #expect(error(many, limit: 640) == .tooManyPixels(width: 1, height: 1, limit: 640))
    }

    @Test("cut short at any byte of the first picture: an error; bytes behind it do not matter")
    func truncated() throws {
      let bytes = GIFSample(pictures: [.init((0, 0, 4, 3), color: 1)], hasEnd: false).bytes
      let whole = try ImageFormats.standard.decode(bytes)
      for length in 6..<bytes.count - 4 {
        #expect(error(bytes.prefix(length)) == .truncated, "\(length) of \(bytes.count)")
      }
      #expect(
        try ImageFormats.standard.decode(BodyBytes(bytes.array + [0x3B, 1, 2, 3])).pixels.array
          == whole.pixels.array)
    }

    @Test("a code size that giflib does not take is unsupported: the file is whole")
    func codeSize() throws {
      var bytes = GIFSample(pictures: [.init((0, 0, 4, 3), color: 1)]).bytes.array
      // Behind the screen, the palette, the control of the picture and its place.
      let place = 13 + 3 * GIFSample.palette.count + 8 + 10
      #expect(bytes[place] == 7)
      bytes[place] = 11
      #expect(error(BodyBytes(bytes)) == .unsupported("GIF: a code size of more than 8 bits"))
      #expect(error(BodyBytes(bytes.prefix(place))) == .truncated)
    }

    @Test("GIF89a §27: all pictures of a file without a trailer; a cut inside of a picture is an error")
    func noTrailer() throws {
      let pictures: [GIFSample.Picture] = [
        .init((0, 0, 4, 3), color: 1), .init((1, 1, 2, 2), color: 2), .init((0, 0, 3, 3), color: 3),
      ]
      let whole = try ImageFormats.standard.frames(of: GIFSample(pictures: pictures).bytes)
      var bytes = GIFSample(pictures: pictures, hasEnd: false).bytes
      let frames = try ImageFormats.standard.frames(of: bytes)
      #expect(frames.count == 3)
      #expect(frames.map(\.image.pixels.array) == whole.map(\.image.pixels.array))
      bytes = GIFSample(pictures: Array(pictures[..<2]), hasEnd: false).bytes
      let first = GIFSample(pictures: Array(pictures[..<1]), hasEnd: false).bytes.count
      #expect(try ImageFormats.standard.frames(of: bytes.prefix(first)).count == 1)
      for length in first + 1..<bytes.count - 4 {
        #expect(error(bytes.prefix(length)) == .truncated, "\(length) of \(bytes.count)")
      }
    }

    @Test("each byte changed: an image or an error, and the process lives")
    func changed() throws {
      let bytes = GIFSample(
        pictures: [.init((0, 0, 4, 3), color: 1), .init((1, 1, 2, 2), color: 2, disposal: 3)]
      ).bytes.array
      for position in bytes.indices where !(20..<390).contains(position) {
        for change: UInt8 in [0xFF, 0x01, 0x80] {
          var damaged = bytes
          damaged[position] ^= change
          let options = ImageDecodingOptions(pixelLimit: 1_000_000)
          let frames = try? ImageFormats.standard.frames(of: BodyBytes(damaged), options: options)
          #expect(frames.map { $0.reduce(0) { $0 + $1.image.width * $1.image.height } } ?? 0 <= 1_000_000)
        }
      }
    }

    @Test("no picture is damaged, and no colors are")
    func nothing() {
      #expect(error(GIFSample(pictures: []).bytes) == .damaged("it has no picture"))
    }
  }
#endif
