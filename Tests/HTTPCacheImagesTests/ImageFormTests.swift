#if ImageCodecs
  import Foundation
  import HTTPCaching
  import Testing

  @testable import HTTPCacheImages

  /// Forms of images that programs write, beside those of `CodecTests`.
  @Suite("Images as other programs write them", .timeLimit(.minutes(10)))
  struct ImageFormTests {
    private static func segment(_ marker: UInt8, _ data: [UInt8]) -> [UInt8] {
      [0xFF, marker, UInt8((data.count + 2) >> 8), UInt8((data.count + 2) & 0xFF)] + data
    }

    /// A baseline JPEG of one unit with one flat value for each component.
    private static func jpeg(
      _ samplings: [(Int, Int)] = [(1, 1), (1, 1), (1, 1)], _ values: [Int] = [150, 100, 180],
      extra: [UInt8] = [],
      beforeScan: [UInt8] = [], hasEnd: Bool = true, frame: UInt8 = 0xC0, precision: UInt8 = 8
    ) -> BodyBytes {
      let (width, height) = (8 * (samplings.map(\.0).max() ?? 1), 8 * (samplings.map(\.1).max() ?? 1))
      var all: [UInt8] = [0xFF, 0xD8] + extra + segment(0xDB, [0] + [UInt8](repeating: 8, count: 64))
      var head: [UInt8] = [precision, 0, UInt8(height), 0, UInt8(width), UInt8(samplings.count)]
      for (index, sampling) in samplings.enumerated() {
        head += [UInt8(index + 1), UInt8(sampling.0 << 4 | sampling.1), 0]
      }
      all += segment(frame, head)
      all += segment(0xC4, [0, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + Array(0..<12))
      all += segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0]) + beforeScan
      all += segment(
        0xDA, [UInt8(samplings.count)] + samplings.indices.flatMap { [UInt8($0 + 1), 0] } + [0, 0x3F, 0])
      var bits = ""
      func add(_ value: Int, _ count: Int) {
        for bit in (0..<count).reversed() { bits += value >> bit & 1 == 1 ? "1" : "0" }
      }
      for (sampling, value) in zip(samplings, values) {
        for number in 0..<sampling.0 * sampling.1 {
          let difference = number == 0 ? value - 128 : 0
          let count = String(abs(difference), radix: 2).count * (difference == 0 ? 0 : 1)
          add(count, 4)
          if count > 0 { add(difference > 0 ? difference : difference + (1 << count) - 1, count) }
          add(0, 1)
        }
      }
      while bits.count % 8 != 0 { bits += "1" }
      var rest = bits[...]
      while !rest.isEmpty {
        let byte = UInt8(rest.prefix(8), radix: 2) ?? 0
        all += byte == 0xFF ? [0xFF, 0] : [byte]
        rest = rest.dropFirst(8)
      }
      return BodyBytes(all + (hasEnd ? [0xFF, 0xD9] : []))
    }

    private func decoded(_ bytes: BodyBytes) throws -> DecodedImage {
      try ImageFormats.standard.decode(bytes)
    }

    private func error(_ bytes: BodyBytes) -> ImageError? {
      do throws(ImageError) { _ = try ImageFormats.standard.decode(bytes) } catch { return error }
      return nil
    }

    private static func profile(_ space: String) -> [UInt8] {
      var profile = [UInt8](repeating: 0, count: 132)
      profile.replaceSubrange(0..<4, with: [0, 0, 0, 132])
      profile[8] = 2
      profile.replaceSubrange(12..<24, with: Array("mntr\(space)XYZ ".utf8))
      profile.replaceSubrange(36..<40, with: Array("acsp".utf8))
      return profile
    }

    private static func icc(_ profile: [UInt8]) -> [UInt8] {
      segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
    }

    @Test(
      "a profile of another color space than that of the pixels is left out",
      arguments: ["GRAY", "CMYK", "Lab ", "XYZ "])
    func otherProfile(_ space: String) throws {
      for (samplings, values) in [([(1, 1)], [100]), ([(1, 1), (1, 1), (1, 1)], [150, 100, 180])] {
        let image = try decoded(Self.jpeg(samplings, values, extra: Self.icc(Self.profile(space))))
        guard case .sRGB = image.colorSpace else {
          Issue.record("\(space) in RGB")
          return
        }
        let given = try DecodedImage(
          size: image.size, pixels: image.pixels, colorSpace: .profile(BodyBytes(Self.profile(space))))
        for encoder in [PNGEncoder(), JPEGEncoder(), WebPEncoder()] as [any ImageEncoder] {
          guard case .sRGB = try decoded(try encoder.encode(given)).colorSpace else {
            Issue.record("\(space) in \(encoder.contentType)")
            return
          }
        }
      }
    }

    @Test("a profile of RGB stays, and one that is cut or no profile is left out")
    func profiles() throws {
      for (profile, isKept) in [
        (Self.profile("RGB "), true), (Array(Self.profile("RGB ").prefix(100)), false),
        ([UInt8](repeating: 1, count: 200), false),
        ([0, 1] + Self.profile("RGB ").dropFirst(2), false),
      ] {
        let image = try decoded(Self.jpeg(extra: Self.icc(profile)))
        if case .profile = image.colorSpace { #expect(isKept) } else { #expect(!isKept) }
      }
    }

    @Test(
      "bytes between segments, and segments longer than they say, are skipped",
      arguments: [
        ([0, 0, 0], []), (Array("ab".utf8), []), ([0xFF, 0xFF], []),
        ([], [0xFF, 0xE1, 0, 8] + Array("12345678".utf8)),
        ([0xFF, 0, 0xFF, 0], []), ([], [1, 2, 3]),
      ] as [([UInt8], [UInt8])])
    func skipped(beforeScan: [UInt8], extra: [UInt8]) throws {
      let image = try decoded(Self.jpeg(extra: extra, beforeScan: beforeScan))
      #expect(image.pixel(x: 3, y: 3) == (try decoded(Self.jpeg())).pixel(x: 3, y: 3))
    }

    @Test("a missing end marker and bytes behind it do not matter, missing pixels do")
    func end() throws {
      let whole = try decoded(Self.jpeg())
      #expect(try decoded(Self.jpeg(hasEnd: false)).pixels.array == whole.pixels.array)
      #expect(try decoded(BodyBytes(Self.jpeg().array + [1, 2, 3, 0xFF])).pixels.array == whole.pixels.array)
      let large = Self.jpeg([(2, 2), (1, 1), (1, 1)])
      #expect(error(large.prefix(large.count - 6)) == .truncated)
    }

    @Test(
      "every sampling of the components is decoded",
      arguments: [
        [(1, 1), (1, 1), (1, 1)], [(2, 1), (1, 1), (1, 1)], [(2, 2), (1, 1), (1, 1)],
        [(1, 2), (1, 1), (1, 1)],
        [(4, 1), (1, 1), (1, 1)], [(2, 2), (2, 1), (2, 1)], [(2, 2), (1, 2), (1, 2)],
        [(1, 1), (2, 2), (1, 1)],
        [(1, 4), (1, 1), (1, 1)], [(4, 2), (1, 1), (1, 1)], [(2, 1), (2, 1), (1, 1)],
      ])
    func samplings(_ samplings: [(Int, Int)]) throws {
      let expected = try #require(try decoded(Self.jpeg()).pixel(x: 0, y: 0))
      let found = try #require(try decoded(Self.jpeg(samplings)).pixel(x: 3, y: 3))
      for channel in 0..<3 { #expect(abs(Int(found[channel]) - Int(expected[channel])) <= 2) }
    }

    @Test(
      "what is valid and not decoded here is unsupported, not damaged",
      arguments: [(0xC3, 8), (0xC5, 8), (0xCB, 8), (0xC1, 12), (0xC0, 16), (0xF7, 8)] as [(UInt8, UInt8)])
    func unsupportedJPEG(frame: UInt8, precision: UInt8) {
      guard case .unsupported = error(Self.jpeg(frame: frame, precision: precision)) else {
        Issue.record("\(String(describing: error(Self.jpeg(frame: frame, precision: precision))))")
        return
      }
    }

    @Test("a height behind the first scan is unsupported, no width is empty (T.81 §B.2.2, §B.2.5)")
    func heightBehindScan() throws {
      var bytes = Self.jpeg().array
      let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
      bytes.replaceSubrange(frame + 5..<frame + 7, with: [0, 0])
      let reason = ImageError.unsupported("JPEG that states its height behind the first scan")
      #expect(error(BodyBytes(bytes)) == reason)
      #expect(throws: reason) { try ImageFormats.standard.size(of: BodyBytes(bytes)) }
      bytes.replaceSubrange(frame + 7..<frame + 9, with: [0, 0])
      #expect(error(BodyBytes(bytes)) == .emptyImage)
    }

    @Test("a format without a decoder is named")
    func formats() {
      let png = Array("\u{89}PNG".unicodeScalars.map { UInt8($0.value) }) + [0x0D, 0x0A, 0x1A, 0x0A]
      for (bytes, name) in [
        ([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0], "TIFF"), ([0xFF, 0x0A, 0, 0], "JPEG XL"),
        (Array("BM1234".utf8), "BMP"), (png + [0, 0, 0, 4] + Array("CgBI".utf8), "CgBI"),
      ] {
        guard case .unsupported(let text) = error(BodyBytes(bytes)) else {
          Issue.record("\(name): \(String(describing: error(BodyBytes(bytes))))")
          continue
        }
        #expect(text.contains(name))
      }
      #expect(error(BodyBytes(Array("<html>".utf8))) == .notAnImage(contentType: nil))
    }

    @Test(
      "a format of other programs is named by its first bytes",
      arguments: [
        ("JPEG 2000", [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        ("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51, 0, 0x2F]), ("BigTIFF", [0x49, 0x49, 0x2B, 0, 8, 0, 0, 0]),
        ("BigTIFF", [0x4D, 0x4D, 0, 0x2B, 0, 8, 0, 0]), ("CUR", [0, 0, 2, 0, 1, 0]),
        ("PSD", [0x38, 0x42, 0x50, 0x53, 0, 1]), ("JPEG XR", [0x49, 0x49, 0xBC, 1, 8, 0]),
      ] as [(String, [UInt8])])
    func otherFormats(name: String, start: [UInt8]) {
      #expect(error(BodyBytes(start)) == .unsupported("the format \(name)"))
    }

    @Test(
      "SVG is named behind all that XML permits before the root element (XML 1.0 §2.8)",
      arguments: [
        "<svg/>", "<svg xmlns='http://www.w3.org/2000/svg'>", "\u{FEFF} \r\n\t<svg>", "<svg:svg a=''>",
        "<?xml version='1.0'?>\n<?xml-stylesheet href='a.css'?><!-- <html> --><svg\n>",
        "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"svg11.dtd\"><!-- --><svg>",
        "<!DOCTYPE svg [ <!-- it's ]> --> <!ENTITY a \"]>\"> <!ENTITY b ']>'> ]>\n<svg>",
      ])
    func svg(_ text: String) {
      #expect(error(BodyBytes(Array(text.utf8))) == .unsupported("the format SVG"))
    }

    @Test(
      "pages, other XML, and text without a root element are no image",
      arguments: [
        "<!DOCTYPE html><svg>", "<!doctype html><svg>", "<html><svg>", "<?xml version='1.0'?><rss>",
        "<svgfont>", "<svg", "<!--<svg>", "<?xml <svg>", "<!DOCTYPE svg <svg ", "<!DOCTYPE svg [><svg>",
        "<!DOCTYPE svg '><svg>", "<!DOCTYPE", "\u{FEFF}", " ", "text <svg>",
      ])
    func noSVG(_ text: String) {
      #expect(error(BodyBytes(Array(text.utf8))) == .notAnImage(contentType: nil))
    }

    @Test("the root element of SVG begins in the first 16 KiB")
    func lateSVG() {
      for (count, isFound) in [(16_000, true), (17_000, false)] {
        let comment = "<!--\(String(repeating: "a", count: count))-->"
        let comments = String(repeating: "<!---->", count: count / 7)
        for start in [comment, comments] {
          let expected = isFound ? ImageError.unsupported("the format SVG") : .notAnImage(contentType: nil)
          #expect(error(BodyBytes(Array("\(start)<svg>".utf8))) == expected)
        }
      }
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
      let all = Array(name.utf8) + data
      var sum: UInt32 = 0xFFFF_FFFF
      for byte in all {
        sum ^= UInt32(byte)
        for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
      }
      let words = [UInt32(data.count), ~sum].map { word in
        (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
      }
      return words[0] + all + words[1]
    }

    /// A PNG of two pixels in one row; the pixels are stored without compression.
    private static func png(depth: UInt8, type: UInt8, row: [UInt8], transparent: [UInt8]) -> BodyBytes {
      let raw = [0] + row
      var (low, high): (UInt32, UInt32) = (1, 0)
      for byte in raw {
        low = (low + UInt32(byte)) % 65_521
        high = (high + low) % 65_521
      }
      let count = UInt8(raw.count)
      let adler = high << 16 | low
      let stream =
        [0x78, 0x01, 1, count, 0, ~count, 0xFF] + raw
        + (0..<4).map { UInt8(truncatingIfNeeded: adler >> UInt32(24 - 8 * $0)) }
      return BodyBytes(
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
          + chunk("IHDR", [0, 0, 0, 2, 0, 0, 0, 1, depth, type, 0, 0, 0])
          + chunk("tRNS", transparent) + chunk("IDAT", stream) + chunk("IEND", []))
    }

    @Test("a PNG with more chunks than the limit is unsupported, not damaged")
    func manyChunks() {
      var bytes = Self.png(depth: 8, type: 0, row: [7, 9], transparent: [0, 7]).array
      let text = Self.chunk("tEXt", [0x61, 0, 0x62])
      bytes.insert(contentsOf: Array(repeating: text, count: 1_001).flatMap { $0 }, at: 33)
      guard case .unsupported = error(BodyBytes(bytes)) else {
        Issue.record("\(String(describing: error(BodyBytes(bytes))))")
        return
      }
    }

    @Test(
      "of the transparent color as many bits count as the image has (PNG §11.3.1.1)",
      arguments: [
        (8, 0, [7, 9], [0, 7]), (8, 0, [7, 9], [0xAB, 7]), (8, 2, [1, 2, 3, 4, 5, 6], [0, 1, 0, 2, 0, 3]),
        (8, 2, [1, 2, 3, 4, 5, 6], [1, 1, 2, 2, 0xFF, 3]), (1, 0, [0x40], [0, 0]),
        (1, 0, [0x40], [0xFF, 0xFE]),
        (2, 0, [0x60], [0, 0x41]), (4, 0, [0x9A], [0x12, 0xF9]), (16, 0, [1, 7, 2, 9], [1, 7]),
      ] as [(UInt8, UInt8, [UInt8], [UInt8])])
    func transparency(depth: UInt8, type: UInt8, row: [UInt8], transparent: [UInt8]) throws {
      let image = try decoded(Self.png(depth: depth, type: type, row: row, transparent: transparent))
      #expect(image.pixel(x: 0, y: 0)?.w == 0)
      #expect(image.pixel(x: 1, y: 0)?.w == 255)
      #expect(!image.isOpaque)
    }
  }
#endif
