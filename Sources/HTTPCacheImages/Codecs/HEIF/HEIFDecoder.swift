#if ImageCodecs
  public import HTTPCaching

  /// Decodes AVIF and HEIC with libheif: the primary image, turned and cropped as the file says. 10 and 12 bits become 8.
  public struct HEIFDecoder: ImageDecoder {
    /// The brands of files with still images (ISO 23008-12, annex B; AV1 Image File Format §6).
    private static let brands: Set<String> = [
      "avif", "avis", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1",
    ]
    private static let longestFileType = 256

    /// Makes a decoder.
    public init() {}

    /// Whether bytes begin with a file type that has one of the brands.
    public func recognizes(_ bytes: BodyBytes) -> Bool {
      let start = bytes.prefix(Self.longestFileType).array
      guard start.count >= 12, start[4..<8].elementsEqual("ftyp".utf8) else { return false }
      let length = min(start[0..<4].reduce(0) { $0 << 8 | Int($1) }, start.count)
      // The major brand, its version, and the compatible brands.
      return ([8] + stride(from: 16, to: length - 3, by: 4)).contains {
        Self.brands.contains(Self.brand(start, $0))
      }
    }

    private static func brand(_ bytes: [UInt8], _ place: Int) -> String {
      String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }

    /// The size of the image, upright.
    ///
    /// - Throws: `ImageError`.
    public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
      try HEIFReader.read(bytes, pixelLimit: nil) { (reader) throws(ImageError) in try reader.size() }
    }

    /// Decodes the image.
    ///
    /// - Throws: `ImageError`.
    public func decode(
      _ bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> DecodedImage {
      try HEIFReader.read(bytes, pixelLimit: options.pixelLimit) { (reader) throws(ImageError) in
        try reader.image()
      }
    }
  }
#endif
