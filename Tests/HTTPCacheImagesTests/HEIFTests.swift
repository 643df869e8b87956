#if ImageCodecs
  import Foundation
  import HTTPCacheImages
  import HTTPCaching
  import Testing

  @Suite("AVIF and HEIC", .timeLimit(.minutes(10)))
  struct HEIFTests {
    static let names = ["heif-opaque.avif", "heif-alpha.avif", "heif-opaque.heic"]

    private func bytes(_ name: String) throws -> BodyBytes {
      let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
      return BodyBytes([UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
    }

    private func source(of name: String) throws -> DecodedImage {
      try ImageFormats.standard.decode(bytes(name.prefix { $0 != "." } + ".png"))
    }

    @Test("the picture that was encoded", arguments: names)
    func decoded(_ name: String) throws {
      let image = try ImageFormats.standard.decode(bytes(name))
      let expected = try source(of: name)
      #expect(try #require(Picture.difference(image, expected)) <= 4)
      #expect(image.isOpaque == (name != "heif-alpha.avif"))
      #expect(try ImageFormats.standard.size(of: bytes(name)) == expected.size)
    }

    @Test("the limit of pixels is compared before the picture is decoded", arguments: names)
    func limit(_ name: String) throws {
      let bytes = try bytes(name)
      #expect(throws: ImageError.tooManyPixels(width: 48, height: 32, limit: 1_535)) {
        try ImageFormats.standard.decode(bytes, options: ImageDecodingOptions(pixelLimit: 1_535))
      }
    }

    private func error(_ sample: HEIFSample, limit: Int = 100_000_000) -> ImageError? {
      do throws(ImageError) {
        _ = try ImageFormats.standard.decode(
          sample.bytes, options: ImageDecodingOptions(pixelLimit: limit))
      } catch { return error }
      return nil
    }

    @Test("the limit of pixels is compared with the whole image, of which the file may show a part")
    func cropped() throws {
      let sample = HEIFSample(size: (20_000, 20_000), canvas: (20_000, 20_000), crop: (1, 1))
      #expect(try ImageFormats.standard.size(of: sample.bytes) == ImageSize(width: 1, height: 1))
      #expect(error(sample) == .tooManyPixels(width: 20_000, height: 20_000, limit: 100_000_000))
    }

    @Test("an image, or the data of a grid, with a side beyond the limit is not decoded")
    func sides() {
      for (sample, limit) in [
        (HEIFSample(size: (20_001, 1), canvas: (20_001, 1)), 100_000_000),
        (HEIFSample(size: (8_193, 1), canvas: (8_193, 1)), 10_000),
        (HEIFSample(canvas: (30_000, 30_000)), 100_000_000), (HEIFSample(canvas: (50, 1)), 100_000_000),
      ] {
        guard case .unsupported(let reason)? = error(sample, limit: limit) else {
          Issue.record("\(sample)")
          continue
        }
        #expect(reason.contains("maximum image size"))
      }
      // Its tile has no bytes, and its size is no reason.
      if case .unsupported? = error(HEIFSample()) { Issue.record("a grid within the limit") }
    }

    @Test("cut short at any byte: an error, never an image", arguments: names)
    func truncated(_ name: String) throws {
      let bytes = try bytes(name)
      for length in stride(from: 12, to: bytes.count - 8, by: 7) {
        #expect(throws: ImageError.self, "\(length) of \(bytes.count)") {
          try ImageFormats.standard.decode(bytes.prefix(length))
        }
      }
    }

    @Test("each byte of the boxes changed: an image or an error, and the process lives", arguments: names)
    func changed(_ name: String) throws {
      let bytes = try bytes(name).array
      for position in 0..<min(bytes.count, 600) {
        for change: UInt8 in [0xFF, 0x01, 0x80] {
          var damaged = bytes
          damaged[position] ^= change
          let options = ImageDecodingOptions(pixelLimit: 100_000)
          guard let image = try? ImageFormats.standard.decode(BodyBytes(damaged), options: options) else {
            continue
          }
          #expect(image.width * image.height <= 100_000)
        }
      }
    }

    @Test("a still image of HEIF is told by one of its brands, and a film is none")
    func brands() {
      let decoder = HEIFDecoder()
      func file(_ major: String, _ compatible: String...) -> BodyBytes {
        let all = Array("ftyp\(major)\0\0\0\0\(compatible.joined())".utf8)
        return BodyBytes([0, 0, 0, UInt8(all.count + 4)] + all + Array("avif".utf8))
      }
      #expect(decoder.recognizes(file("avif")) && decoder.recognizes(file("heic")))
      #expect(decoder.recognizes(file("isom", "mp41", "mif1")))
      #expect(!decoder.recognizes(file("isom", "mp41")))
      #expect(!decoder.recognizes(BodyBytes(Array("\0\0\0 free".utf8))))
    }
  }
#endif
