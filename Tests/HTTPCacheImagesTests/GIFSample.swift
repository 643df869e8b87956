import HTTPCaching

/// A GIF file that a test writes: its pixels are not compressed.
struct GIFSample {
  /// A picture of one color at a place on the screen.
  struct Picture {
    var box: (x: Int, y: Int, width: Int, height: Int)
    /// The color of each pixel, by its number in the palette.
    var pixels: [UInt8]
    /// How the picture is cleared (GIF89a §23): 0 to 3.
    var disposal: UInt8 = 0
    var transparent: UInt8?
    /// Hundredths of a second.
    var delay: UInt8 = 10
    var isInterlaced = false

    init(_ box: (Int, Int, Int, Int), color: UInt8, disposal: UInt8 = 0) {
      self.box = (box.0, box.1, box.2, box.3)
      pixels = [UInt8](repeating: color, count: box.2 * box.3)
      self.disposal = disposal
    }
  }

  var screen = (width: 4, height: 3)
  var pictures: [Picture]
  var hasEnd = true

  /// Black, red, green, blue, and 124 shades of gray.
  static let palette: [[UInt8]] =
    [[0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]]
    + (4..<128).map { [UInt8($0), UInt8($0), UInt8($0)] }

  private static func word(_ number: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
  }

  var bytes: BodyBytes {
    var all = Array("GIF89a".utf8) + Self.word(screen.width) + Self.word(screen.height) + [0xF6, 0, 0]
    all += Self.palette.flatMap { $0 }
    for picture in pictures {
      let flags = picture.disposal << 2 | (picture.transparent == nil ? 0 : 1)
      all += [0x21, 0xF9, 4, flags, picture.delay, 0, picture.transparent ?? 0, 0]
      all += [0x2C] + Self.word(picture.box.x) + Self.word(picture.box.y) + Self.word(picture.box.width)
      all += Self.word(picture.box.height) + [picture.isInterlaced ? 0x40 : 0] + Self.data(picture.pixels)
    }
    return BodyBytes(all + (hasEnd ? [0x3B] : []))
  }

  /// Codes of eight bits, each a pixel: the table is cleared before the codes become longer.
  private static func data(_ pixels: [UInt8]) -> [UInt8] {
    var codes: [UInt8] = []
    for (index, pixel) in pixels.enumerated() {
      if index % 100 == 0 { codes.append(0x80) }
      codes.append(pixel)
    }
    codes.append(0x81)
    var all: [UInt8] = [7]
    var rest = codes[...]
    while !rest.isEmpty {
      let block = rest.prefix(255)
      all += [UInt8(block.count)] + block
      rest = rest.dropFirst(block.count)
    }
    return all + [0]
  }
}
