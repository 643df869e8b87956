/// The sizes that coded images state themselves: decoders allocate by them, whatever the properties of the file say.
enum CodedSize {
  /// The sizes in the sequence headers of open bitstream units (AV1 §5.3, §5.5). Units that cannot be read end the list.
  static func ofAV1(_ bytes: ArraySlice<UInt8>) -> [ImageSize] {
    var sizes: [ImageSize] = []
    var rest = bytes
    while let header = rest.first {
      rest = rest.dropFirst(header & 4 != 0 ? 2 : 1)
      var length = rest.count
      if header & 2 != 0 {
        guard let stated = leb128(&rest), stated <= rest.count else { break }
        length = stated
      }
      if header >> 3 & 15 == 1, let size = sequenceHeader(BitReader(rest.prefix(length))) {
        sizes.append(size)
      }
      rest = rest.dropFirst(length)
    }
    return sizes
  }

  /// A number of AV1 §4.10.5.
  private static func leb128(_ bytes: inout ArraySlice<UInt8>) -> Int? {
    var number = 0
    for index in 0..<8 {
      guard let byte = bytes.popFirst() else { return nil }
      number |= Int(byte & 0x7F) << (7 * index)
      if byte & 0x80 == 0 { return number }
    }
    return nil
  }

  /// The maximum frame size (AV1 §5.5.1).
  private static func sequenceHeader(_ reader: BitReader) -> ImageSize? {
    var reader = reader
    reader.skip(4)
    if reader.bits(1) == 1 {
      reader.skip(5)
    } else {
      skipOperatingPoints(&reader)
    }
    let (widthBits, heightBits) = (reader.bits(4) + 1, reader.bits(4) + 1)
    let size = ImageSize(width: reader.bits(widthBits) + 1, height: reader.bits(heightBits) + 1)
    return reader.isOverrun ? nil : size
  }

  private static func skipOperatingPoints(_ reader: inout BitReader) {
    var delayBits: Int?
    if reader.bits(1) == 1 {
      reader.skip(64)
      if reader.bits(1) == 1 { _ = reader.exponential() }
      if reader.bits(1) == 1 {
        delayBits = reader.bits(5) + 1
        reader.skip(42)
      }
    }
    let hasInitialDelay = reader.bits(1) == 1
    for _ in 0...reader.bits(5) {
      reader.skip(12)
      if reader.bits(5) > 7 { reader.skip(1) }
      if let delayBits, reader.bits(1) == 1 { reader.skip(2 * delayBits + 1) }
      if hasInitialDelay, reader.bits(1) == 1 { reader.skip(4) }
    }
  }

  /// The sizes in the sequence parameter sets of units with a length before each (ISO 14496-15 §4.3; H.265 §7.3.2.2).
  ///
  /// - Parameter lengthSize: the bytes of a length.
  static func ofHEVC(_ bytes: ArraySlice<UInt8>, lengthSize: Int) -> [ImageSize] {
    var sizes: [ImageSize] = []
    var rest = bytes
    while rest.count > lengthSize {
      let length = rest.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(lengthSize)
      sizes += size(inUnit: rest.prefix(length)).map { [$0] } ?? []
      rest = rest.dropFirst(length)
    }
    return sizes
  }

  /// The sizes in the sequence parameter sets of a decoder's configuration (ISO 14496-15 §8.3.3.1).
  static func ofConfiguration(hevc bytes: ArraySlice<UInt8>) -> [ImageSize] {
    var sizes: [ImageSize] = []
    var rest = bytes.dropFirst(22)
    for _ in 0..<(rest.popFirst() ?? 0) {
      rest = rest.dropFirst(1)
      let count = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(2)
      for _ in 0..<count where !rest.isEmpty {
        let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(2)
        sizes += size(inUnit: rest.prefix(length)).map { [$0] } ?? []
        rest = rest.dropFirst(length)
      }
    }
    return sizes
  }

  /// The size in a unit of H.265; nil for another unit than a sequence parameter set.
  private static func size(inUnit bytes: ArraySlice<UInt8>) -> ImageSize? {
    guard let first = bytes.first, first >> 1 & 63 == 33 else { return nil }
    var reader = BitReader(withoutPrevention(bytes.dropFirst(2))[...])
    reader.skip(4)
    let layers = reader.bits(3)
    reader.skip(1 + 96)
    let isThere = (0..<layers).map { _ in (profile: reader.bits(1) == 1, level: reader.bits(1) == 1) }
    if layers > 0 { reader.skip(2 * (8 - layers)) }
    for layer in isThere { reader.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
    _ = reader.exponential()
    if reader.exponential() == 3 { reader.skip(1) }
    let size = ImageSize(width: reader.exponential(), height: reader.exponential())
    return reader.isOverrun ? nil : size
  }

  /// The start of a unit without the bytes that keep it from looking like a start code (H.265 §7.4.2).
  private static func withoutPrevention(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var plain: [UInt8] = []
    var zeros = 0
    for byte in bytes.prefix(1_024) {
      if zeros >= 2, byte == 3 {
        zeros = 0
      } else {
        plain.append(byte)
        zeros = byte == 0 ? zeros + 1 : 0
      }
    }
    return plain
  }
}
