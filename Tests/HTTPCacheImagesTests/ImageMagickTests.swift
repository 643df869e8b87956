#if ImageCodecs
  import Foundation
  import HTTPCacheImages
  import HTTPCaching
  import Testing

  /// Compares with what ImageMagick makes of the same pictures: `Fixtures/make.sh`.
  @Suite("Beside ImageMagick", .timeLimit(.minutes(10)))
  struct ImageMagickTests {
    static let pictures = ["plasma", "edges", "noise", "alpha"]

    private func image(_ name: String) throws -> DecodedImage {
      let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
      return try ImageFormats.standard.decode(
        BodyBytes([UInt8](Data(contentsOf: folder.appendingPathComponent(name)))))
    }

    @Test("resized: the mean difference is at most 2 of 255", arguments: pictures)
    func resized(name: String) throws {
      let source = try image("\(name).png")
      for (result, processor) in [
        ("fit-50x50", ResizeProcessor(width: 50, height: 50)),
        ("fill-31x31", ResizeProcessor(width: 31, height: 31, mode: .fill)),
        ("stretch-37x61", ResizeProcessor(width: 37, height: 61, mode: .stretch)),
        ("enlarge-150x150", ResizeProcessor(width: 150, height: 150, enlarges: true)),
      ] {
        let difference = try Picture.difference(processor.process(source), image("\(name)-\(result).png"))
        #expect(try #require(difference) <= 2, "\(name) \(result): \(difference ?? 0)")
      }
    }

    @Test("cropped: equal", arguments: pictures)
    func cropped(name: String) throws {
      let result = try CropProcessor(x: 40, y: 17, width: 33, height: 21).process(image("\(name).png"))
      #expect(try Picture.difference(result, image("\(name)-crop-33x21.png")) == 0)
    }

    @Test("turned upright: the mean difference is at most 2 of 255", arguments: 1...8)
    func oriented(number: Int) throws {
      let upright = try image("orientation-\(number).jpg")
      #expect(upright.orientation.rawValue == number)
      #expect(try #require(Picture.difference(upright, image("orientation-\(number).png"))) <= 2)
    }

    @Test(
      "kinds of PNG, JPEG and WebP have the pixels that ImageMagick sees in them, in the first frame",
      arguments: [
        "16-bit.png", "16-bit-gray.png", "gray.png", "gray-alpha.png", "palette.png", "palette-alpha.png",
        "interlaced.png", "1-bit.png", "gray.jpg", "420.jpg", "cmyk.jpg", "progressive.jpg", "animated.webp",
        "lossless.webp", "alpha.webp",
      ])
    func kinds(name: String) throws {
      let difference = try Picture.difference(image("kind-\(name)"), image("pixels-kind-\(name).png"))
      #expect(try #require(difference) <= 1)
    }
  }
#endif
