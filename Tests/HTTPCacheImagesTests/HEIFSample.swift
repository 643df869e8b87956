import HTTPCaching

/// A file of HEIF whose primary image is a grid of one tile, which has no bytes (ISO 23008-12 §6.6.2.3).
struct HEIFSample {
  /// The size in the property of the grid.
  var size = (width: 48, height: 32)
  /// The size in the data of the grid.
  var canvas = (width: 48, height: 32)
  /// The size that is cut out; nil is all.
  var crop: (width: Int, height: Int)?

  private static func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    number(content.count + 8) + Array(type.utf8) + content
  }

  /// A box with a version, and flags of 0.
  private static func box(_ type: String, version: UInt8, _ content: [UInt8]) -> [UInt8] {
    box(type, [version, 0, 0, 0] + content)
  }

  private static func item(_ id: Int, _ type: String) -> [UInt8] {
    box("infe", version: 2, number(id, 2) + number(0, 2) + Array(type.utf8) + [0])
  }

  private static func place(of id: Int, _ range: Range<Int>) -> [UInt8] {
    // In the box idat, in one piece.
    number(id, 2) + number(1, 2) + number(0, 2) + number(1, 2) + number(range.lowerBound)
      + number(range.count)
  }

  private var properties: [UInt8] {
    var all = Self.box("ispe", version: 0, Self.number(size.width) + Self.number(size.height))
    all += Self.box("ispe", version: 0, Self.number(48) + Self.number(32))
    all += Self.box("av1C", [0x81, 0, 0x0C, 0])
    if let crop {
      let numbers = [crop.width, 1, crop.height, 1, 0, 1, 0, 1]
      all += Self.box("clap", numbers.flatMap { Self.number($0) })
    }
    let ofGrid: [UInt8] = crop == nil ? [1, 1] : [2, 1, 0x84]
    let uses = Self.number(2) + Self.number(1, 2) + ofGrid + Self.number(2, 2) + [2, 2, 0x83]
    return Self.box("iprp", Self.box("ipco", all) + Self.box("ipma", version: 0, uses))
  }

  var bytes: BodyBytes {
    let grid = [0, 1, 0, 0] + Self.number(canvas.width) + Self.number(canvas.height)
    var meta = Self.box("hdlr", version: 0, Self.number(0) + Array("pict".utf8) + Self.number(0, 13))
    meta += Self.box("pitm", version: 0, Self.number(1, 2))
    meta += Self.box(
      "iinf", version: 0, Self.number(2, 2) + Self.item(1, "grid") + Self.item(2, "av01"))
    meta += Self.box(
      "iref", version: 0, Self.box("dimg", Self.number(1, 2) + Self.number(1, 2) + Self.number(2, 2)))
    meta += properties
    meta += Self.box(
      "iloc", version: 1,
      [0x44, 0] + Self.number(2, 2) + Self.place(of: 1, 0..<grid.count)
        + Self.place(of: 2, grid.count..<grid.count + 4))
    meta += Self.box("idat", grid + [0, 0, 0, 0])
    let brands = Array("mif1\0\0\0\0mif1avif".utf8)
    return BodyBytes(Self.box("ftyp", brands) + Self.box("meta", version: 0, meta))
  }
}
