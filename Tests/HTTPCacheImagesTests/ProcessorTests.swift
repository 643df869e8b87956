import HTTPCaching
import Testing

@testable import HTTPCacheImages

@Suite("Processors", .timeLimit(.minutes(10)))
struct ProcessorTests {
  @Test(
    "the size of a resized image",
    arguments: [
      (ResizeProcessor(width: 50, height: 50), 50, 25), (ResizeProcessor(width: 50, height: 10), 20, 10),
      (ResizeProcessor(width: 50, height: 50, mode: .fill), 50, 50),
      (ResizeProcessor(width: 50, height: 50, mode: .stretch), 50, 50),
      (ResizeProcessor(width: 400, height: 400), 100, 50),
      (ResizeProcessor(width: 400, height: 400, enlarges: true), 400, 200),
      (ResizeProcessor(width: 400, height: 20, mode: .fill), 100, 20),
      (ResizeProcessor(width: 200, height: 200, mode: .fill, enlarges: true), 200, 200),
      (ResizeProcessor(width: 0, height: -3, mode: .stretch), 1, 1),
    ])
  func sizes(processor: ResizeProcessor, width: Int, height: Int) throws {
    let image = try processor.process(Picture.make(100, 50))
    #expect(image.size == ImageSize(width: width, height: height))
  }

  @Test("a plain color stays the same at every size")
  func plain() throws {
    let color = SIMD4<UInt8>(37, 200, 91, 130)
    for width in [1, 7, 40, 41, 90] {
      let image = try ResizeProcessor(width: width, height: 33, mode: .stretch, enlarges: true)
        .process(Picture.plain(40, 30, color))
      for y in 0..<33 {
        for x in 0..<width { #expect(image.pixel(x: x, y: y) == color) }
      }
    }
  }

  @Test("the color of transparent pixels does not run into others")
  func premultiplied() throws {
    let size = ImageSize(width: 40, height: 4)
    let image = try DecodedImage(
      size: size,
      pixels: DecodedImage.makePixels(size) { target in
        for index in 0..<160 { target[index] = index % 40 < 20 ? SIMD4(0, 0, 255, 255) : SIMD4(255, 0, 0, 0) }
      })
    let small = try ResizeProcessor(width: 9, height: 1, mode: .stretch).process(image)
    for x in 0..<9 {
      let pixel = try #require(small.pixel(x: x, y: 0))
      #expect(pixel.x == 0)
    }
  }

  @Test("a result above the limit is an error, not an allocation")
  func limit() throws {
    let huge = ResizeProcessor(width: 900_000, height: 900_000, enlarges: true)
    #expect(throws: ImageError.tooManyPixels(width: 900_000, height: 900_000, limit: 100_000_000)) {
      try huge.process(Picture.make(4, 4))
    }
    #expect(throws: ImageError.self) {
      try ResizeProcessor(width: .max, height: .max, mode: .fill, enlarges: true).process(Picture.make(4, 3))
    }
  }

  @Test("a crop is the part of the rectangle that lies in the image")
  func crop() throws {
    let image = try Picture.make(30, 20)
    let part = try CropProcessor(x: 10, y: 5, width: 7, height: 4).process(image)
    #expect(part.size == ImageSize(width: 7, height: 4))
    #expect(part.pixel(x: 6, y: 3) == image.pixel(x: 16, y: 8))
    #expect(
      try CropProcessor(x: -5, y: 15, width: 10, height: .max).process(image).size
        == ImageSize(width: 5, height: 5))
    let allOutside: [CropProcessor] = [
      CropProcessor(x: 30, y: 0, width: 5, height: 5), CropProcessor(x: 0, y: 0, width: 0, height: 5),
      CropProcessor(x: 0, y: -9, width: 5, height: 5), CropProcessor(x: .max, y: 0, width: .max, height: 5),
    ]
    for outside in allOutside {
      #expect(throws: ImageError.emptyImage) { try outside.process(image) }
    }
  }

  @Test("round corners are transparent outside and smooth at the edge")
  func rounded() throws {
    let image = try RoundedCornersProcessor(radius: 10).process(Picture.plain(40, 30, SIMD4(9, 9, 9, 255)))
    for (x, y) in [(0, 0), (39, 0), (0, 29), (39, 29)] { #expect(image.pixel(x: x, y: y)?.w == 0) }
    for (x, y) in [(10, 0), (0, 10), (20, 15), (29, 29), (39, 19)] {
      #expect(image.pixel(x: x, y: y)?.w == 255)
    }
    let edge = (0..<10).compactMap { image.pixel(x: $0, y: 3)?.w }
    #expect(edge.contains { $0 > 0 && $0 < 255 })
    #expect(edge == edge.sorted())
    let circle = try RoundedCornersProcessor(radius: nil).process(Picture.plain(20, 20, SIMD4(9, 9, 9, 255)))
    #expect(circle.pixel(x: 0, y: 10)?.w ?? 0 > 200 && circle.pixel(x: 1, y: 1)?.w == 0)
  }

  @Test("processors with other parameters have other keys")
  func keys() {
    let resizing: [ResizeProcessor] = [
      .resize(width: 1, height: 2), .resize(width: 2, height: 1), .resize(width: 1, height: 2, mode: .fill),
      .resize(width: 1, height: 2, enlarges: true),
    ]
    let cropping: [CropProcessor] = [
      .crop(x: 0, y: 1, width: 2, height: 3), .crop(x: 1, y: 0, width: 2, height: 3),
    ]
    let rounding: [RoundedCornersProcessor] = [.roundedCorners(radius: 3), .roundedCorners(radius: nil)]
    let keys = resizing.map(\.key) + cropping.map(\.key) + rounding.map(\.key)
    #expect(Set(keys).count == 8)
  }

  @Test("a thumbnail of a reduced image has the size of one of the whole image")
  func reducedSource() throws {
    let whole = try Picture.make(201, 97)
    let reduced = try DecodedImage(
      size: ImageSize(width: 101, height: 49), pixels: Picture.make(101, 49).pixels, originalSize: whole.size)
    let thumbnail = ResizeProcessor.thumbnail(width: 40, height: 40)
    #expect(try thumbnail.process(reduced).size == thumbnail.process(whole).size)
  }
}
