import HTTPCaching

@testable import HTTPCacheImages

/// A file of HEIF that a test writes; its primary image is its first item (ISO 23008-12).
struct HEIFSample {
  struct Item {
    var type: String
    var data: [UInt8] = []
    var properties: [[UInt8]] = []
    /// Whether the item is not shown by itself (ISO 23008-12 §6.4.2).
    var isHidden = false
  }

  var items: [Item]
  /// References of items to others, all by their numbers, which begin with 1.
  var references: [(type: String, from: Int, to: [Int])] = []
  /// Whether each item has the bytes of all.
  var sharesData = false
  /// Whether the length of the box `meta` is 0: up to the end.
  var isOpenEnded = false

  /// A grid of one tile, which has no bytes (§6.6.2.3).
  ///
  /// - Parameters:
  ///   - size: in the property of the grid.
  ///   - canvas: the size in the data of the grid.
  ///   - crop: the size that is cut out; nil is all.
  static func grid(
    size: (Int, Int) = (48, 32), canvas: (Int, Int) = (48, 32), crop: (Int, Int)? = nil
  ) -> HEIFSample {
    HEIFSample(
      items: [
        Item(
          type: "grid", data: gridData(canvas, rows: 1, columns: 1),
          properties: [ispe(size.0, size.1)] + (crop.map { [clap($0.0, $0.1)] } ?? [])),
        Item(type: "av01", properties: [ispe(48, 32), box("av1C", [0x81, 0, 0x0C, 0])]),
      ], references: [("dimg", 1, [2])])
  }

  /// The items of a file: the coded bytes and the configuration of the decoder, without other properties.
  static func coded(in bytes: BodyBytes, alpha isAlpha: Bool) throws -> Item {
    try bytes.withUnsafeBytes { buffer in
      let items = try HEIFItems(buffer)
      let item = isAlpha ? items.alphaImages(of: items.primary)[0] : items.primary
      let configuration = items.properties(of: item).filter { $0.type == "av1C" }.map {
        box("av1C", Array(buffer[$0.content]))
      }
      return Item(
        type: "av01", data: items.start(of: item, count: .max, in: buffer),
        properties: configuration + [ispe(48, 32)])
    }
  }

  static func gridData(_ canvas: (Int, Int), rows: UInt8, columns: UInt8) -> [UInt8] {
    [0, 1, rows - 1, columns - 1] + number(canvas.0) + number(canvas.1)
  }

  /// The data of an overlay whose images are all at its corner (§6.6.2.2).
  static func overlayData(_ canvas: (Int, Int), count: Int) -> [UInt8] {
    [0, 1] + number(0, 8) + number(canvas.0) + number(canvas.1) + (0..<count).flatMap { _ in number(0, 8) }
  }

  static func ispe(_ width: Int, _ height: Int) -> [UInt8] {
    box("ispe", version: 0, number(width) + number(height))
  }

  static func clap(_ width: Int, _ height: Int) -> [UInt8] {
    box("clap", [width, 1, height, 1, 0, 1, 0, 1].flatMap { number($0) })
  }

  static func colors(isFullRange: Bool) -> [UInt8] {
    box("colr", Array("nclx".utf8) + [0, 1, 0, 13, 0, 6, isFullRange ? 0x80 : 0])
  }

  static let alpha = box("auxC", version: 0, Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))

  static func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    number(content.count + 8) + Array(type.utf8) + content
  }

  /// A box with a version, and flags of 0.
  static func box(_ type: String, version: UInt8, _ content: [UInt8]) -> [UInt8] {
    box(type, [version, 0, 0, 0] + content)
  }

  private var infos: [UInt8] {
    items.enumerated().flatMap { index, item -> [UInt8] in
      let start: [UInt8] = [2, 0, 0, item.isHidden ? 1 : 0]
      let numbers = Self.number(index + 1, 2) + Self.number(0, 2)
      return Self.box("infe", start + numbers + Array(item.type.utf8) + [0])
    }
  }

  private var properties: [UInt8] {
    var next = 1
    let uses = items.enumerated().filter { !$0.element.properties.isEmpty }.map { index, item in
      let places = item.properties.indices.flatMap { Self.number(next + $0, 2) }
      next += item.properties.count
      return Self.number(index + 1, 2) + [UInt8(item.properties.count)] + places
    }
    // With flags of 1, an index has two bytes.
    let content = [0, 0, 0, 1] + Self.number(uses.count) + uses.flatMap { $0 }
    return Self.box(
      "iprp", Self.box("ipco", items.flatMap { $0.properties.flatMap { $0 } }) + Self.box("ipma", content))
  }

  private var places: [UInt8] {
    let total = items.reduce(0) { $0 + $1.data.count }
    var start = 0
    return items.enumerated().flatMap { index, item -> [UInt8] in
      defer { start += item.data.count }
      let place = sharesData ? (0, total) : (start, item.data.count)
      // In the box idat, in one piece.
      return Self.number(index + 1, 2) + Self.number(1, 2) + Self.number(0, 2) + Self.number(1, 2)
        + Self.number(place.0) + Self.number(place.1)
    }
  }

  var bytes: BodyBytes {
    var meta = Self.box("hdlr", version: 0, Self.number(0) + Array("pict".utf8) + Self.number(0, 13))
    meta += Self.box("pitm", version: 0, Self.number(1, 2))
    meta += Self.box("iinf", version: 0, Self.number(items.count, 2) + infos)
    let links = references.flatMap { link in
      Self.box(
        link.type,
        Self.number(link.from, 2) + Self.number(link.to.count, 2) + link.to.flatMap { Self.number($0, 2) })
    }
    if !links.isEmpty { meta += Self.box("iref", version: 0, links) }
    meta += properties
    meta += Self.box("iloc", version: 1, [0x44, 0] + Self.number(items.count, 2) + places)
    meta += Self.box("idat", items.flatMap(\.data))
    var all = Self.box("meta", version: 0, meta)
    if isOpenEnded { all.replaceSubrange(0..<4, with: Self.number(0)) }
    return BodyBytes(Self.box("ftyp", Array("mif1\0\0\0\0mif1avif".utf8)) + all)
  }
}
