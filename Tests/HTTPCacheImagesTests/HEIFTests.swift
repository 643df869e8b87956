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

    @Test("colors that would be taken for others are not supported", arguments: names)
    func matrices(_ name: String) throws {
      var bytes = try bytes(name).array
      let colors = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("nclx".utf8)) })
      for isFullRange in [true, false] {
        bytes[colors + 10] = isFullRange ? 0x80 : 0
        for matrix in UInt8(0)...20 {
          bytes[colors + 9] = matrix
          let isKnown = [1, 2, 4, 5, 6, 7, 9, 12].contains(matrix) || isFullRange && [0, 8].contains(matrix)
          do throws(ImageError) {
            _ = try ImageFormats.standard.decode(BodyBytes(bytes))
            #expect(isKnown, "\(matrix)")
          } catch {
            let isUnsupported = if case .unsupported = error { true } else { false }
            #expect(isUnsupported && (!isKnown || matrix == 0), "\(matrix): \(error)")
          }
        }
      }
    }

    @Test("colors in PQ or HLG are not supported, by their name", arguments: names)
    func highDynamicRange(_ name: String) throws {
      var bytes = try bytes(name).array
      let colors = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("nclx".utf8)) })
      bytes[colors + 5] = 9
      for (transfer, known) in [(UInt8(16), "PQ"), (18, "HLG"), (1, "")] {
        bytes[colors + 7] = transfer
        do throws(ImageError) {
          let image = try ImageFormats.standard.decode(BodyBytes(bytes))
          #expect(known.isEmpty)
          guard case .profile = image.colorSpace else {
            Issue.record("\(name) has no profile")
            continue
          }
        } catch {
          guard case .unsupported(let what) = error else {
            Issue.record("\(transfer): \(error)")
            continue
          }
          #expect(!known.isEmpty && what.contains(known))
        }
      }
    }

    @Test("the limit of pixels is compared before the picture is decoded", arguments: names)
    func limit(_ name: String) throws {
      let bytes = try bytes(name)
      #expect(throws: ImageError.tooManyPixels(width: 48, height: 32, limit: 1_535)) {
        try ImageFormats.standard.decode(bytes, options: ImageDecodingOptions(pixelLimit: 1_535))
      }
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
