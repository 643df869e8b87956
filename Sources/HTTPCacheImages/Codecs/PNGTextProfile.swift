#if ImageCodecs
  import CSpng
  import HTTPCacheSemantics

  /// EXIF in a text of PNG, as ImageMagick and older programs write it: a text of the type `exif` or `APP1` with a name, the
  /// number of bytes, and the bytes in hexadecimal digits.
  enum PNGTextProfile {
    /// The maximum number of bytes of EXIF.
    private static let limit = 1 << 20
    private static let keywords = ["Raw profile type exif", "Raw profile type APP1"]

    /// The EXIF in the first text before the pixels that has some, from the header of TIFF on; nil without one. libspng has
    /// unpacked the texts, within its limits.
    static func exif(_ context: OpaquePointer) -> ArraySlice<UInt8>? {
      var count: UInt32 = 0
      guard spng_get_text(context, nil, &count) == 0, count > 0 else { return nil }
      var texts = [spng_text](repeating: spng_text(), count: Int(count))
      guard spng_get_text(context, &texts, &count) == 0 else { return nil }
      for text in texts {
        let keyword = withUnsafeBytes(of: text.keyword) { Array($0.prefix { $0 != 0 }) }
        // Each byte has two digits, and lines have ends.
        guard keywords.contains(where: { keyword.elementsEqual($0.utf8) }), text.length <= 3 * limit,
          let exif = exif(in: Array(UnsafeRawBufferPointer(start: text.text, count: text.length)))
        else { continue }
        return exif
      }
      return nil
    }

    /// The EXIF in a text, from the header of TIFF on; nil if it has none, as a text of the type `APP1` with XMP.
    static func exif(in text: [UInt8]) -> ArraySlice<UInt8>? {
      let name: ArraySlice<UInt8> = text[...].drop { $0 == 0x0A }
      let number: ArraySlice<UInt8> = name.drop { $0 != 0x0A }
      var rest: ArraySlice<UInt8> = number.drop(while: isSpace)
      var length = 0
      while let digit = rest.first, (0x30...0x39).contains(digit), length <= limit {
        length = length * 10 + Int(digit - 0x30)
        rest = rest.dropFirst()
      }
      guard length > 0, length <= limit, let end = rest.first, isSpace(end) else { return nil }
      var bytes: [UInt8] = []
      var high: UInt8?
      for character in rest where bytes.count < length && !isSpace(character) {
        guard let digit = character.hexValue else { return nil }
        if let first = high { bytes.append(first << 4 | digit) }
        high = high == nil ? digit : nil
      }
      guard bytes.count == length else { return nil }
      // EXIF of JPEG has a header of its own.
      let exif = bytes.starts(with: "Exif\0\0".utf8) ? bytes.dropFirst(6) : bytes[...]
      return ["II", "MM"].contains { exif.starts(with: $0.utf8) } ? exif : nil
    }

    private static func isSpace(_ character: UInt8) -> Bool {
      character == 0x20 || (0x09...0x0D).contains(character)
    }
  }
#endif
