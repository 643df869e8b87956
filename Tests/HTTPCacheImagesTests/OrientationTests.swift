import Foundation
import HTTPCaching
import Testing

@testable import HTTPCacheImages

@Suite("Orientation", .timeLimit(.minutes(10)))
struct OrientationTests {
  /// Each orientation, and where EXIF says that the first two pixels of the first stored row are in a stored
  /// image of three columns and two rows.
  static let places: [(ImageOrientation, first: (Int, Int), second: (Int, Int))] = [
    (.up, (0, 0), (1, 0)), (.upMirrored, (2, 0), (1, 0)), (.down, (2, 1), (1, 1)),
    (.downMirrored, (0, 1), (1, 1)),
    (.leftMirrored, (0, 0), (0, 1)), (.right, (1, 0), (1, 1)), (.rightMirrored, (1, 2), (1, 1)),
    (.left, (0, 2), (0, 1)),
  ]

  /// EXIF with the orientation `right`.
  static let turned: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]

  @Test("the pixels of each orientation are turned upright", arguments: 0..<8)
  func upright(index: Int) throws {
    let (orientation, first, second) = Self.places[index]
    let size = ImageSize(width: 3, height: 2)
    let stored = try DecodedImage(
      size: size,
      pixels: DecodedImage.makePixels(size) { target in
        for index in 0..<6 { target[index] = SIMD4(UInt8(index), 0, 0, 255) }
      })
    let image = try stored.upright(from: orientation, original: size)
    #expect(image.size == (index < 4 ? size : size.transposed))
    #expect(image.originalSize == image.size && image.orientation == orientation)
    #expect(image.pixel(x: first.0, y: first.1)?.x == 0)
    #expect(image.pixel(x: second.0, y: second.1)?.x == 1)
  }

  @Test("EXIF of both byte orders is read; what is damaged is upright")
  func exif() {
    let little = Self.turned
    let big: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0]
    #expect(ImageOrientation(exif: little[...]) == .right)
    #expect(ImageOrientation(exif: big[...]) == .left)
    for length in 0..<20 { #expect(ImageOrientation(exif: little[..<length]) == .up || length >= 20) }
    var beyond = little
    beyond[18] = 9
    #expect(ImageOrientation(exif: beyond[...]) == .up)
    var outside = little
    outside.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(ImageOrientation(exif: outside[...]) == .up)
  }

  #if ImageCodecs
    @Test("a JPEG with EXIF comes upright, and its size is that of the upright image")
    func jpeg() throws {
      let bytes = try JPEGEncoder(quality: 95).encode(Picture.make(64, 32)).array
      let exif: [UInt8] = Array("Exif\0\0".utf8) + Self.turned
      let turned = BodyBytes(
        Array(bytes[..<2]) + [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + bytes[2...])
      #expect(try JPEGDecoder().size(of: turned) == ImageSize(width: 32, height: 64))
      let image = try JPEGDecoder().decode(turned, options: ImageDecodingOptions())
      let expected = try JPEGDecoder().decode(BodyBytes(bytes), options: ImageDecodingOptions())
        .upright(from: .right, original: ImageSize(width: 64, height: 32))
      #expect(Picture.difference(image, expected) == 0)
    }

    @Test("of several EXIF segments of a JPEG the first one tells: a second one continues it")
    func continued() throws {
      let bytes = try JPEGEncoder(quality: 95).encode(Picture.make(64, 32)).array
      let segments = [Self.turned, [1, 2, 3, 4]].flatMap { data -> [UInt8] in
        [0xFF, 0xE1, 0, UInt8(data.count + 8)] + Array("Exif\0\0".utf8) + data
      }
      let turned = BodyBytes(Array(bytes[..<2]) + segments + bytes[2...])
      #expect(try JPEGHeader(turned).orientation == .right)
    }

    @Test("each picture of an animation in WebP comes upright")
    func animation() throws {
      let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
      var bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent("kind-animated.webp")))
      let stored = try ImageFormats.standard.frames(of: BodyBytes(bytes))
      bytes += [0x45, 0x58, 0x49, 0x46, UInt8(Self.turned.count), 0, 0, 0]
      bytes += Self.turned
      let length = bytes.count - 8
      bytes.replaceSubrange(4..<8, with: [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: length >> $0) })
      // The header announces EXIF.
      bytes[20] |= 0x08
      let turned = try ImageFormats.standard.frames(of: BodyBytes(bytes))
      #expect(stored.count > 1 && turned.count == stored.count)
      for (frame, other) in zip(turned, stored) {
        let expected = try other.image.upright(from: .right, original: other.image.size)
        #expect(Picture.difference(frame.image, expected) == 0)
        #expect(frame.duration == other.duration)
      }
    }
  #endif
}
