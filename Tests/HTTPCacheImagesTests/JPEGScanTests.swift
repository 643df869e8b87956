#if ImageCodecs
  import HTTPCacheImages
  import HTTPCaching
  import Testing

  /// ITU-T T.81, annex B.2: the number of scans, each of which passes over the whole image.
  @Suite("Scans of JPEG", .timeLimit(.minutes(10)))
  struct JPEGScanTests {
    private static let end: [UInt8] = [0xFF, 0xD9]
    /// The scans of the sample.
    private static let count = 10

    /// The sample with more copies of its last scan, and with bytes before them.
    private func sample(scans: Int, _ more: [UInt8] = []) throws -> BodyBytes {
      let bytes = Array(ProgressiveSample.bytes.dropLast(2))
      let start = try #require(bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
      let copies = (0..<scans - Self.count).flatMap { _ in bytes[start...] }
      return BodyBytes(bytes + more + copies + Self.end)
    }

    private func error(_ bytes: BodyBytes, limit: Int = 100_000_000) -> ImageError? {
      do throws(ImageError) {
        _ = try ImageFormats.standard.decode(bytes, options: ImageDecodingOptions(pixelLimit: limit))
      } catch { return error }
      return nil
    }

    @Test("100 scans are decoded, and no more")
    func limit() throws {
      #expect(try error(sample(scans: 100)) == nil)
      #expect(
        try error(sample(scans: 101)) == .unsupported("a JPEG with 101 scans, more than 100,"))
    }

    @Test("a large image has fewer: 16 times the limit of pixels in all scans together")
    func work() throws {
      #expect(try error(sample(scans: 16), limit: 96 * 64) == nil)
      #expect(
        try error(sample(scans: 17), limit: 96 * 64)
          == .unsupported("a JPEG with 17 scans, more than 16,"))
      #expect(try error(sample(scans: 17), limit: 96 * 64 * 2) == nil)
    }

    @Test("markers within a segment, and bytes of a scan, are no scans")
    func segments() throws {
      let markers = Array(repeating: [0xFF, 0xDA] as [UInt8], count: 200).flatMap { $0 }
      #expect(try error(sample(scans: 11, [0xFF, 0xFE, 0x01, 0x92] + markers)) == nil)
    }
  }
#endif
