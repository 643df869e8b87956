#if ImageCodecs
  import HTTPCaching
  import Testing

  @testable import HTTPCacheImages

  /// The colors that a PNG states (PNG §4.3, §11.3.2).
  @Suite("Colors that PNG states", .timeLimit(.minutes(10)))
  struct ColorSpaceTests {
    static func number(_ value: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func chunk(_ name: String, _ data: [UInt8], isDamaged: Bool = false) -> [UInt8] {
      let all = Array(name.utf8) + data
      let sum = PNGChunks.checksum(all[...]) ^ (isDamaged ? 1 : 0)
      return number(data.count) + all + number(Int(sum))
    }

    /// A PNG of one picture with chunks before its pixels.
    ///
    /// - Parameter end: the chunks behind its pixels; nil for an intact end.
    static func bytes(_ chunks: [[UInt8]], end: [[UInt8]]? = nil) throws -> BodyBytes {
      var bytes = try PNGEncoder().encode(Picture.make(9, 5)).array
      // IEND.
      bytes.removeLast(12)
      bytes.insert(contentsOf: chunks.flatMap { $0 }, at: 33)
      bytes += (end ?? [chunk("IEND", [])]).flatMap { $0 }
      return BodyBytes(bytes)
    }

    private static func image(_ chunks: [[UInt8]], end: [[UInt8]]? = nil) throws -> DecodedImage {
      try ImageFormats.standard.decode(bytes(chunks, end: end))
    }

    private static func profile(_ chunks: [UInt8]...) throws -> [UInt8]? {
      let image = try image(chunks)
      #expect(try image.pixels.array == Picture.make(9, 5).pixels.array)
      guard case .profile(let profile) = image.colorSpace else { return nil }
      return profile.array
    }

    private static func tag(_ name: String, _ profile: [UInt8]) -> ArraySlice<UInt8>? {
      func number(_ place: Int) -> Int { profile[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
      for place in stride(from: 132, to: 132 + 12 * number(128), by: 12)
      where profile[place..<place + 4].elementsEqual(name.utf8) {
        return profile[number(place + 4)..<number(place + 4) + number(place + 8)]
      }
      return nil
    }

    /// The numbers of a tag behind its type, with 16 bits behind the point.
    private static func fixed(_ name: String, _ profile: [UInt8], from: Int = 8) throws -> [Double] {
      let data = try #require(tag(name, profile)).dropFirst(from)
      return stride(from: data.startIndex, to: data.endIndex, by: 4).map { place in
        Double(Int32(truncatingIfNeeded: data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) })) / 65_536
      }
    }

    private static let gamma = chunk("gAMA", number(100_000))
    private static let sRGBPrimaries = chunk(
      "cHRM", [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000].flatMap(number))

    @Test("an exponent becomes the curve of a profile, which each encoder writes again")
    func gamma() throws {
      let profile = try #require(try Self.profile(Self.gamma))
      #expect(try Self.fixed("rTRC", profile, from: 12) == [1])
      let other = try #require(try Self.profile(Self.chunk("gAMA", Self.number(50_000))))
      #expect(try Self.fixed("gTRC", other, from: 12) == [2])
      for encoder in CodecTests.encoders.prefix(3) {
        let again = try ImageFormats.standard.decode(encoder.encode(Self.image([Self.gamma])))
        guard case .profile(let kept) = again.colorSpace else {
          Issue.record("\(encoder.contentType) has no profile")
          continue
        }
        #expect(kept.array == profile)
      }
    }

    @Test("1/2.2 with the primaries of sRGB, sRGB itself, and an exponent of 0 are sRGB")
    func plain() throws {
      #expect(try Self.profile(Self.chunk("gAMA", Self.number(45_455))) == nil)
      #expect(try Self.profile(Self.chunk("gAMA", Self.number(45_455)), Self.sRGBPrimaries) == nil)
      #expect(try Self.profile(Self.chunk("sRGB", [0]), Self.gamma) == nil)
      #expect(try Self.profile(Self.chunk("gAMA", Self.number(0))) == nil)
      #expect(try Self.profile(Self.chunk("cICP", [1, 13, 0, 1]), Self.gamma) == nil)
    }

    @Test("primaries become columns relative to D50, whose sum is its white")
    func primaries() throws {
      let profile = try #require(try Self.profile(Self.gamma, Self.sRGBPrimaries))
      // sRGB's own, from ICC's profile of sRGB.
      for (name, expected) in [
        ("rXYZ", [0.4361, 0.2225, 0.0139]), ("gXYZ", [0.3851, 0.7169, 0.0971]),
        ("bXYZ", [0.1431, 0.0606, 0.7139]), ("wtpt", [0.9642, 1, 0.8249]),
      ] {
        let found = try Self.fixed(name, profile)
        #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 0.001 }, "\(name) \(found)")
      }
      let line = Self.chunk(
        "cHRM", [31_270, 32_900, 10_000, 10_000, 20_000, 20_000, 30_000, 30_000].flatMap(Self.number))
      #expect(try Self.profile(Self.gamma, line) == nil)
    }

    @Test("code points come first: Display P3 has its primaries, and the curve of sRGB")
    func codePoints() throws {
      let profile = try #require(try Self.profile(Self.chunk("cICP", [12, 13, 0, 1]), Self.gamma))
      let red = try Self.fixed("rXYZ", profile)
      #expect(zip(red, [0.5151, 0.2412, -0.0011]).allSatisfy { abs($0 - $1) < 0.001 }, "\(red)")
      #expect(abs(try Self.fixed("rTRC", profile, from: 12)[0] - 2.4) < 0.001)
    }

    @Test(
      "reserved code points, a matrix and another length are passed over",
      arguments: [[1, 13, 1, 1], [1, 13, 0, 2], [3, 13, 0, 1], [1, 3, 0, 1], [12, 13, 0]] as [[UInt8]])
    func otherCodePoints(_ data: [UInt8]) throws {
      #expect(try Self.profile(Self.chunk("cICP", data)) == nil)
      #expect(try Self.profile(Self.chunk("cICP", data), Self.gamma) != nil)
    }

    @Test(
      "code points that no profile can state are not supported, by their name",
      arguments: [
        ([9, 16, 0, 1], "PQ"), ([9, 16, 0, 0], "PQ"), ([9, 18, 0, 1], "HLG"), ([1, 9, 0, 1], "logarithmic"),
        ([12, 17, 0, 1], "ST 428"), ([10, 13, 0, 1], "XYZ"),
      ] as [([UInt8], String)])
    func unstated(_ data: [UInt8], name: String) throws {
      let chunks = [Self.chunk("cICP", data), Self.gamma]
      let error = #expect(throws: ImageError.self) { try Self.image(chunks) }
      guard case .unsupported(let what) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(what.contains(name))
      #expect(
        try ImageFormats.standard.size(of: Self.bytes(chunks)) == ImageSize(width: 9, height: 5))
    }

    @Test("curves of television without light beyond white are stated", arguments: [7, 11, 12] as [UInt8])
    func television(transfer: UInt8) throws {
      let profile = try #require(try Self.profile(Self.chunk("cICP", [1, transfer, 0, 1])))
      #expect(abs(try Self.fixed("rTRC", profile, from: 12)[0] - 1 / 0.45) < 0.001)
    }

    @Test("a limited range is brought to the full one, and alpha stays")
    func limitedRange() throws {
      let colors: [SIMD4<UInt8>] = [
        [16, 235, 126, 16], [0, 255, 15, 235], [17, 234, 180, 255], [81, 90, 41, 0],
      ]
      let picture = try DecodedImage(
        size: ImageSize(width: 4, height: 1),
        pixels: BodyBytes(colors.flatMap { [$0.x, $0.y, $0.z, $0.w] }))
      var bytes = try PNGEncoder().encode(picture).array
      bytes.insert(contentsOf: Self.chunk("cICP", [1, 13, 0, 0]), at: 33)
      let image = try ImageFormats.standard.decode(BodyBytes(bytes))
      for (x, color) in colors.enumerated() {
        func full(_ sample: UInt8) -> UInt8 {
          UInt8(min(max((Double(sample) - 16) * 255 / 219, 0), 255).rounded())
        }
        #expect(image.pixel(x: x, y: 0) == SIMD4(full(color.x), full(color.y), full(color.z), color.w))
      }
      #expect(image.colorSpace.rgbProfile == nil)
    }

    @Test("a damaged chunk says nothing")
    func damaged() throws {
      #expect(try Self.profile(Self.chunk("cICP", [12, 13, 0, 1], isDamaged: true)) == nil)
    }

    /// Ends of a file behind its pixels: none, one with a wrong checksum, a length beyond all limits, an unknown critical
    /// chunk.
    private static let badEnds: [[[UInt8]]] = [
      [], [chunk("IEND", [], isDamaged: true)], [[255, 255, 255, 255, 0x74, 0x45, 0x58, 0x74]],
      [chunk("ABCD", [1]), chunk("IEND", [])],
    ]

    @Test("a missing or damaged end takes neither colors nor turn nor transparency away", arguments: 0..<4)
    func damagedEnd(index: Int) throws {
      let end = Self.badEnds[index]
      let turn = Self.chunk("eXIf", OrientationTests.turned)
      // The color of the first pixel.
      let transparency = Self.chunk("tRNS", [0, 0, 0, 0, 0, 60])
      for colors in [Self.gamma, Self.chunk("cICP", [12, 13, 0, 1])] {
        let whole = try Self.image([colors, transparency, turn])
        #expect(whole.colorSpace.rgbProfile != nil && whole.orientation == .right && !whole.isOpaque)
        let before = try Self.image([colors, transparency, turn], end: end)
        let behind = try Self.image([colors, transparency], end: [turn] + end)
        for image in [before, behind] {
          #expect(image.colorSpace.rgbProfile?.array == whole.colorSpace.rgbProfile?.array)
          #expect(image.orientation == .right && !image.isOpaque)
          #expect(image.pixels.array == whole.pixels.array)
        }
      }
      let opaque = try Self.image([Self.gamma], end: end)
      #expect(opaque.isOpaque && opaque.orientation == .up)
    }

    @Test("PNG §5.6: eXIf may stand behind the pixels, and turns the size too; a damaged one turns nothing")
    func turnBehindPixels() throws {
      let end = Self.chunk("IEND", [])
      let turned = try Self.bytes([], end: [Self.chunk("eXIf", OrientationTests.turned), end])
      #expect(try ImageFormats.standard.size(of: turned) == ImageSize(width: 5, height: 9))
      #expect(try ImageFormats.standard.decode(turned).size == ImageSize(width: 5, height: 9))
      let damaged = try Self.bytes(
        [], end: [Self.chunk("eXIf", OrientationTests.turned, isDamaged: true), end])
      #expect(try ImageFormats.standard.size(of: damaged) == ImageSize(width: 9, height: 5))
      #expect(try ImageFormats.standard.decode(damaged).size == ImageSize(width: 9, height: 5))
    }

    @Test("a file that ends before its pixels is cut short", arguments: 34..<100)
    func cutBeforePixels(length: Int) throws {
      let bytes = try Self.bytes([Self.gamma, Self.sRGBPrimaries, Self.chunk("tRNS", [0, 0, 0, 0, 0, 60])])
      #expect(throws: ImageError.truncated) { try ImageFormats.standard.decode(bytes.prefix(length)) }
    }

    @Test("a profile that is made is one of RGB with the length that it states")
    func header() throws {
      let profile = try #require(try Self.profile(Self.gamma))
      #expect(ImageColorSpace(profile: BodyBytes(profile)).rgbProfile?.count == profile.count)
      #expect(profile.count == profile[0..<4].reduce(0) { $0 << 8 | Int($1) })
      for name in ["desc", "cprt", "wtpt", "chad", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"] {
        #expect(Self.tag(name, profile) != nil)
      }
    }
  }
#endif
