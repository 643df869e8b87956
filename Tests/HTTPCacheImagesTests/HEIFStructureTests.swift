#if ImageCodecs
  import Foundation
  import HTTPCaching
  import Testing

  @testable import HTTPCacheImages

  /// The parts of a file of HEIF: limits, alpha, and changes after decoding.
  @Suite("The structure of AVIF and HEIC", .timeLimit(.minutes(10)))
  struct HEIFStructureTests {
    private typealias Item = HEIFSample.Item

    private func file(_ name: String) throws -> BodyBytes {
      let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
      return BodyBytes([UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
    }

    /// The picture of a file with alpha, and its alpha.
    private func coded() throws -> (color: Item, alpha: Item) {
      let bytes = try file("heif-alpha.avif")
      var alpha = try HEIFSample.coded(in: bytes, alpha: true)
      alpha.properties.append(HEIFSample.alpha)
      return (try HEIFSample.coded(in: bytes, alpha: false), alpha)
    }

    private func decode(_ sample: HEIFSample, limit: Int = 100_000_000) throws(ImageError) -> DecodedImage {
      try ImageFormats.standard.decode(sample.bytes, options: ImageDecodingOptions(pixelLimit: limit))
    }

    private func error(_ sample: HEIFSample, limit: Int = 100_000_000) -> ImageError? {
      do throws(ImageError) { _ = try decode(sample, limit: limit) } catch { return error }
      return nil
    }

    private func expectUnsupported(_ sample: HEIFSample, limit: Int = 100_000_000, _ reason: String) {
      guard case .unsupported(let text)? = error(sample, limit: limit), text.contains(reason) else {
        Issue.record("\(reason): \(String(describing: error(sample, limit: limit)))")
        return
      }
    }

    @Test("the limit of pixels is compared with the whole image, of which the file may show a part")
    func cropped() throws {
      let sample = HEIFSample.grid(size: (20_000, 20_000), canvas: (20_000, 20_000), crop: (1, 1))
      #expect(try ImageFormats.standard.size(of: sample.bytes) == ImageSize(width: 1, height: 1))
      #expect(error(sample) == .tooManyPixels(width: 20_000, height: 20_000, limit: 100_000_000))
    }

    @Test("the limit of pixels is compared with grid, overlay, tile and alpha before they are decoded")
    func parts() throws {
      let (color, alpha) = try coded()
      let large = HEIFSample.ispe(10_001, 10_000)
      let tooMany = ImageError.tooManyPixels(width: 10_001, height: 10_000, limit: 100_000_000)
      #expect(error(.grid(size: (10_001, 10_000), canvas: (10_001, 10_000))) == tooMany)
      let overlay = Item(
        type: "iovl", data: HEIFSample.overlayData((10_001, 10_000), count: 1), properties: [large])
      #expect(error(HEIFSample(items: [overlay, color], references: [("dimg", 1, [2])])) == tooMany)
      var tile = HEIFSample.grid()
      tile.items[1].properties[0] = large
      #expect(error(tile) == tooMany)
      var largeAlpha = alpha
      largeAlpha.properties.append(large)
      #expect(error(HEIFSample(items: [color, largeAlpha], references: [("auxl", 2, [1])])) == tooMany)
      // The size in the data of a grid is that of its property.
      for canvas in [(50, 1), (48, 33), (30_000, 30_000)] {
        #expect(error(.grid(canvas: canvas)) == .damaged("its picture has another size than its header"))
      }
      // Its tile has no bytes, and its size is no reason.
      if case .unsupported? = error(.grid()) { Issue.record("a grid within the limit") }
    }

    @Test(
      "the size in the coded bytes is compared too, whatever the properties say",
      arguments: [
        // The sizes less 7: 41 x 25, and 57 x 57.
        ("heif-opaque.avif", 1_024, 1_025), ("heif-alpha.avif", 1_024, 1_025),
        ("heif-opaque.heic", 3_248, 3_249),
      ])
    func codedSize(_ name: String, below: Int, enough: Int) throws {
      let bytes = try file(name).array
      let start = Array("ispe\0\0\0\0".utf8)
      let places = bytes.indices.filter { bytes[$0...].starts(with: start) }
      var changed = bytes
      // The header is that of 1 x 1 pixel, and the coded image is what it was.
      for place in places {
        changed.replaceSubrange(place + 8..<place + 16, with: HEIFSample.number(1) + HEIFSample.number(1))
      }
      #expect(!places.isEmpty)
      // So is its crop.
      if let crop = bytes.indices.first(where: { bytes[$0...].starts(with: Array("clap".utf8)) }) {
        let whole = [1, 1, 1, 1, 0, 1, 0, 1].flatMap { HEIFSample.number($0) }
        changed.replaceSubrange(crop + 4..<crop + 36, with: whole)
      }
      for (limit, isTooMany) in [(below, true), (enough, false)] {
        do throws(ImageError) {
          _ = try ImageFormats.standard.decode(
            BodyBytes(changed), options: ImageDecodingOptions(pixelLimit: limit))
          Issue.record("decoded with another size")
        } catch {
          let isLimit = if case .tooManyPixels = error { true } else { false }
          #expect(isLimit == isTooMany, "\(error)")
        }
      }
    }

    @Test("an image is made of four times the pixels of the limit at most; a repeated image counts each time")
    func work() throws {
      let color = try coded().color
      for (count, isTaken) in [(3, true), (4, false)] {
        let overlay = Item(
          type: "iovl", data: HEIFSample.overlayData((48, 32), count: count),
          properties: [HEIFSample.ispe(48, 32)])
        let sample = HEIFSample(
          items: [overlay, color], references: [("dimg", 1, Array(repeating: 2, count: count))])
        if isTaken {
          #expect(try decode(sample, limit: 1_536).size == ImageSize(width: 48, height: 32))
        } else {
          expectUnsupported(sample, limit: 1_536, "7680 pixels, more than 4 times")
        }
      }
    }

    @Test("an overlay of images with alpha is refused: libheif would leave the alpha out")
    func alphaOfParts() throws {
      let (color, alpha) = try coded()
      let overlay = Item(
        type: "iovl", data: HEIFSample.overlayData((48, 32), count: 1), properties: [HEIFSample.ispe(48, 32)])
      expectUnsupported(
        HEIFSample(items: [overlay, color, alpha], references: [("dimg", 1, [2]), ("auxl", 3, [2])]),
        "an overlay of images with alpha")
    }

    @Test("images that are made of one another, or of items that are none, are refused")
    func cycles() throws {
      let color = try coded().color
      let derived = Item(type: "iden", properties: [HEIFSample.ispe(48, 32)])
      expectUnsupported(HEIFSample(items: [derived], references: [("dimg", 1, [1])]), "within one another")
      var grid = HEIFSample.grid()
      grid.references.append(("dimg", 2, [1]))
      grid.items[1] = grid.items[0]
      expectUnsupported(grid, "within one another")
      #expect(
        error(HEIFSample(items: [derived], references: [("dimg", 1, [7])]))
          == .damaged("its item 7 is missing"))
      expectUnsupported(
        HEIFSample(items: [derived, Item(type: "Exif")], references: [("dimg", 1, [2])]), "type 'Exif'")
      let chain = HEIFSample(
        items: [derived, derived, color], references: [("dimg", 1, [2]), ("dimg", 2, [3])])
      #expect(try decode(chain).size == ImageSize(width: 48, height: 32))
    }

    @Test("the number of items, of their bytes, and of changes of an image are limited")
    func numbers() throws {
      let color = try coded().color
      let empty = Item(type: "Exif")
      expectUnsupported(
        HEIFSample(items: [color] + Array(repeating: empty, count: 8_192)), "8193 items, more than 8192")
      var shared = HEIFSample(
        items: [color] + Array(repeating: Item(type: "Exif", data: color.data), count: 9))
      #expect(try decode(shared).size == ImageSize(width: 48, height: 32))
      shared.sharesData = true
      #expect(error(shared) == .damaged("its items use each of its bytes more than 4 times"))
      var turned = color
      turned.properties += Array(repeating: HEIFSample.box("irot", [2]), count: 4)
      #expect(error(HEIFSample(items: [turned])) == .damaged("an image is turned 4 times"))
    }

    @Test("MIAF §7.3.6.7: an image is cropped, turned and mirrored, and so is its alpha")
    func changes() throws {
      let (color, alpha) = try coded()
      let plain = try decode(HEIFSample(items: [color, alpha], references: [("auxl", 2, [1])]))
      #expect(!plain.isOpaque)
      let changes: [([UInt8], (Int, Int), (Int, Int) -> (Int, Int))] = [
        (HEIFSample.box("irot", [1]), (32, 48), { (47 - $1, $0) }),
        (HEIFSample.box("irot", [2]), (48, 32), { (47 - $0, 31 - $1) }),
        (HEIFSample.box("irot", [3]), (32, 48), { ($1, 31 - $0) }),
        (HEIFSample.box("imir", [0]), (48, 32), { ($0, 31 - $1) }),
        (HEIFSample.box("imir", [1]), (48, 32), { (47 - $0, $1) }),
        (HEIFSample.clap(20, 10), (20, 10), { ($0 + 14, $1 + 11) }),
      ]
      for (change, size, source) in changes {
        for (isBoth, isFirst) in [(false, false), (true, false), (false, true)] {
          var (changed, changedAlpha) = (color, alpha)
          // Some cameras write the turn before the size.
          changed.properties.insert(change, at: isFirst ? 0 : changed.properties.count)
          if isBoth { changedAlpha.properties.append(change) }
          let sample = HEIFSample(items: [changed, changedAlpha], references: [("auxl", 2, [1])])
          let image = try decode(sample)
          #expect(image.size == ImageSize(width: size.0, height: size.1))
          #expect(try ImageFormats.standard.size(of: sample.bytes) == image.size)
          for y in 0..<image.height {
            for x in 0..<image.width {
              let place = source(x, y)
              guard image.pixel(x: x, y: y) != plain.pixel(x: place.0, y: place.1) else { continue }
              Issue.record("\(change) at \(x), \(y)")
              return
            }
          }
        }
      }
    }

    @Test("alpha whose header has another size than the image is brought to the size of the image")
    func alphaSize() throws {
      let (color, alpha) = try coded()
      let plain = try decode(HEIFSample(items: [color, alpha], references: [("auxl", 2, [1])]))
      var other = alpha
      other.properties.append(HEIFSample.ispe(96, 64))
      let image = try decode(HEIFSample(items: [color, other], references: [("auxl", 2, [1])]))
      #expect(image.pixels.array == plain.pixels.array)
    }

    @Test("alpha of one tile of a grid; the other tile is opaque")
    func alphaOfTile() throws {
      let (color, alpha) = try coded()
      let plain = try decode(HEIFSample(items: [color, alpha], references: [("auxl", 2, [1])]))
      let grid = Item(
        type: "grid", data: HEIFSample.gridData((96, 32), rows: 1, columns: 2),
        properties: [HEIFSample.ispe(96, 32)])
      let image = try decode(
        HEIFSample(
          items: [grid, color, color, alpha], references: [("dimg", 1, [2, 3]), ("auxl", 4, [2])]))
      for (x, y) in [(0, 0), (20, 7), (47, 31), (13, 30)] {
        let pixel = try #require(plain.pixel(x: x, y: y))
        #expect(image.pixel(x: x, y: y)?.w == pixel.w)
        #expect(image.pixel(x: x + 48, y: y)?.w == 255)
      }
    }

    @Test("ISO 23008-12 §6.4.2: tiles of a grid and alpha may be hidden")
    func hidden() throws {
      let (color, alpha) = try coded()
      let grid = Item(
        type: "grid", data: HEIFSample.gridData((96, 32), rows: 1, columns: 2),
        properties: [HEIFSample.ispe(96, 32)])
      let samples = [
        HEIFSample(
          items: [grid, color, color, alpha], references: [("dimg", 1, [2, 3]), ("auxl", 4, [2])]),
        HEIFSample(items: [color, alpha], references: [("auxl", 2, [1])]),
      ]
      for sample in samples {
        let plain = try decode(sample)
        var hidden = sample
        for index in sample.items.indices.dropFirst() { hidden.items[index].isHidden = true }
        #expect(hidden.bytes.array != sample.bytes.array)
        let image = try decode(hidden)
        #expect(image.pixels.array == plain.pixels.array)
        #expect(!plain.isOpaque && !image.isOpaque)
      }
    }

    @Test("H.273, equation 20: an image without colors in the limited range is brought to the full one")
    func grayRange() throws {
      let item = try HEIFSample.coded(in: file("heif-alpha.avif"), alpha: true)
      func image(isFullRange: Bool) throws -> DecodedImage {
        var item = item
        item.properties.append(HEIFSample.colors(isFullRange: isFullRange))
        return try decode(HEIFSample(items: [item]))
      }
      let (full, limited) = (try image(isFullRange: true), try image(isFullRange: false))
      var values: Set<UInt8> = []
      for y in 0..<32 {
        for x in 0..<48 {
          let (from, to) = (try #require(full.pixel(x: x, y: y)), try #require(limited.pixel(x: x, y: y)))
          let expected = min(255, max(0, ((Double(from.x) - 16) * 255 / 219).rounded()))
          #expect(to == SIMD4(UInt8(expected), UInt8(expected), UInt8(expected), 255))
          values.insert(from.x)
        }
      }
      #expect(values.count > 10)
    }

    @Test("alpha whose AV1 says that it has the limited range is brought to the full one")
    func alphaRange() throws {
      let (color, alpha) = try coded()
      // The flag color_range of an image without colors, in the sequence header (AV1 §5.5.2).
      var limited = alpha
      #expect(limited.data[8] == 0x0A)
      limited.data[8] = 0x08
      let (full, expanded) = (
        try decode(HEIFSample(items: [color, alpha], references: [("auxl", 2, [1])])),
        try decode(HEIFSample(items: [color, limited], references: [("auxl", 2, [1])]))
      )
      var values: Set<UInt8> = []
      for y in 0..<32 {
        for x in 0..<48 {
          let (from, to) = (
            try #require(full.pixel(x: x, y: y)), try #require(expanded.pixel(x: x, y: y))
          )
          let expected = min(255, max(0, ((Double(from.w) - 16) * 255 / 219).rounded()))
          #expect(to == SIMD4(from.x, from.y, from.z, UInt8(expected)))
          values.insert(from.w)
        }
      }
      #expect(values.count > 10)
    }

    @Test(
      "a file that ends before the end of its items is cut short; a sequence without them is unsupported")
    func noItems() throws {
      let bytes = HEIFSample.grid().bytes
      let start = Int(bytes.array[3])
      for length in start..<start + 40 {
        #expect(throws: ImageError.truncated, "\(length)") {
          try ImageFormats.standard.decode(bytes.prefix(length))
        }
      }
      let sequence = BodyBytes(bytes.prefix(start).array + HEIFSample.box("moov", []))
      #expect(throws: ImageError.unsupported("HEIF: a sequence without a still image")) {
        try ImageFormats.standard.decode(sequence)
      }
    }

    @Test("a sequence without a brand of still images shows its primary image; without one it is unsupported")
    func sequenceBrands() throws {
      let (color, alpha) = try coded()
      let plain = HEIFSample(items: [color, alpha], references: [("auxl", 2, [1])]).bytes
      var all = plain.array
      all.replaceSubrange(8..<12, with: "avis".utf8)
      all.replaceSubrange(16..<24, with: "avismsf1".utf8)
      let (image, expected) = (
        try ImageFormats.standard.decode(BodyBytes(all)), try ImageFormats.standard.decode(plain)
      )
      #expect(image.pixels.array == expected.pixels.array)

      let place = try #require(all.indices.first { all[$0...].starts(with: "pitm".utf8) })
      all.replaceSubrange(place..<place + 4, with: "free".utf8)
      #expect(throws: ImageError.damaged("its boxes name no primary image")) {
        try ImageFormats.standard.decode(BodyBytes(all))
      }
      #expect(throws: ImageError.unsupported("HEIF: a sequence without a still image")) {
        try ImageFormats.standard.decode(BodyBytes(all + HEIFSample.box("moov", [])))
      }
    }

    @Test("another operating point of AV1 than the first is unsupported if it has another size")
    func operatingPoint() throws {
      var (color, _) = try coded()
      color.properties[color.properties.count - 1] = HEIFSample.ispe(96, 64)
      #expect(
        error(HEIFSample(items: [color])) == .damaged("its picture has another size than its header"))
      color.properties.append(HEIFSample.box("a1op", [1]))
      expectUnsupported(HEIFSample(items: [color]), "an operating point of AV1 other than the first")
    }

    @Test("ISO 14496-12 §4.2.2: a length of 0 of the box of the items is up to the end of the file")
    func openEnded() throws {
      let (color, alpha) = try coded()
      var sample = HEIFSample(items: [color, alpha], references: [("auxl", 2, [1])])
      let plain = try decode(sample)
      sample.isOpenEnded = true
      #expect(try decode(sample).pixels.array == plain.pixels.array)
    }
  }
#endif
