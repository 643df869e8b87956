import HTTPCaching

/// The items of an AVIF or HEIC file, and what they are made of: libheif compares neither the size of a grid or an overlay,
/// nor that of an alpha image, nor the number of references with a limit before it decodes (ISO 14496-12 §8.11,
/// ISO 23008-12 §6).
struct HEIFItems {
  /// A reference of an item to others.
  struct Reference {
    let type: String
    /// Where its type is.
    let place: Int
    let from: Int
    let to: [Int]
  }

  /// The maximum numbers of items, of references from items, of their properties, and of places of bytes: libheif looks
  /// through all of them for each item.
  private static let limit = 8_192
  /// The maximum number of items that all references name.
  private static let targetLimit = 65_536

  /// The primary item.
  private(set) var primary = 0
  /// The types of the items by their numbers.
  private(set) var types: [Int: String] = [:]
  /// The references between items.
  private(set) var references: [Reference] = []
  /// Where the flags of hidden items are, such as the tiles of a grid.
  private(set) var hiddenPlaces: [Int] = []
  private(set) var alphaItems: [Int: [Int]] = [:]
  private(set) var partsOfItems: [Int: [Int]] = [:]
  /// The box of the items.
  let meta: HEIFBoxes.Box
  /// Where a brand of still images must be written for libheif; nil if the file type has one.
  private(set) var brandPlace: Int?
  /// Whether the box of the items says that it goes up to the end of the file.
  let isOpenEnded: Bool
  private(set) var propertyBoxes: [HEIFBoxes.Box] = []
  private(set) var propertyIndexes: [Int: [Int]] = [:]
  /// Where the bytes of each item are; in the file, or in the box `idat`.
  private(set) var extents: [Int: [Range<Int>]] = [:]

  /// Reads the boxes of a file.
  ///
  /// - Throws: `ImageError`.
  init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
    let file = HEIFBoxes(bytes, 0..<bytes.count)
    var top = file
    var found: HEIFBoxes.Box?
    var (isCut, isSequence) = (false, false)
    while !top.isAtEnd {
      guard let box = try? top.box() else {
        // Bytes behind the last whole box do not matter.
        isCut = true
        break
      }
      if box.type == "moov" { isSequence = true }
      if box.type == "ftyp" { brandPlace = Self.brandPlace(file, box) }
      guard box.type == "meta" else { continue }
      guard found == nil else { throw .damaged("it has two boxes 'meta'") }
      found = box
    }
    let noStillImage = ImageError.unsupported("HEIF: a sequence without a still image")
    guard let meta = found else { throw isSequence && !isCut ? noStillImage : .truncated }
    self.meta = meta
    var first = file.reader(of: meta.start..<meta.content.upperBound)
    isOpenEnded = try first.number(4) == 0
    var boxes: [String: HEIFBoxes.Box] = [:]
    for box in try file.boxes(in: meta.content, after: 4) {
      guard boxes.updateValue(box, forKey: box.type) == nil || !Self.single.contains(box.type) else {
        throw .damaged("it has two boxes '\(box.type)'")
      }
    }
    guard let primaryBox = boxes["pitm"], let infos = boxes["iinf"] else {
      throw isSequence ? noStillImage : .damaged("its boxes name no primary image")
    }
    var reader = file.reader(of: primaryBox.content)
    primary = try reader.number(try reader.versionAndFlags().version == 0 ? 2 : 4)
    try readTypes(file, infos)
    if let box = boxes["iref"] { try readReferences(file, box) }
    if let box = boxes["iprp"] { try readProperties(file, box) }
    for reference in references where reference.type == "auxl" && isAlpha(reference.from, bytes) {
      for item in reference.to where item != reference.from {
        alphaItems[item, default: []].append(reference.from)
      }
    }
    if let box = boxes["iloc"] { try readPlaces(file, box, data: boxes["idat"], count: bytes.count) }
  }

  private static let single: Set<String> = ["pitm", "iinf", "iref", "iprp", "iloc", "idat"]

  /// The brands of still images, one of which libheif 1.15 wants among the compatible ones.
  private static let stillBrands: Set<String> = ["heic", "heix", "mif1", "avif"]

  /// The place of the first compatible brand of a file type without a brand of still images, such as that of a sequence
  /// with a primary image (ISO 14496-12 §4.3).
  private static func brandPlace(_ file: HEIFBoxes, _ fileType: HEIFBoxes.Box) -> Int? {
    // Behind the major brand and its version.
    var reader = file.reader(of: fileType.content.dropFirst(8))
    let start = reader.position
    while let brand = try? reader.type() {
      if stillBrands.contains(brand) { return nil }
    }
    return reader.position > start ? start : nil
  }

  /// Whether an item is an auxiliary image that is alpha (ISO 23008-12, annex B.2.2.3; MIAF §7.3.5.2).
  private func isAlpha(_ item: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    properties(of: item).contains { property in
      guard property.type == "auxC", property.content.count > 4 else { return false }
      var reader = HEIFBoxes(bytes, property.content.dropFirst(4))
      return Self.alphaTypes.contains(reader.text())
    }
  }

  private static let alphaTypes: Set<String> = [
    "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1",
    "urn:mpeg:avc:2015:auxid:1",
  ]

  private mutating func readTypes(_ file: HEIFBoxes, _ box: HEIFBoxes.Box) throws(ImageError) {
    var start = file.reader(of: box.content)
    let prefix = try start.versionAndFlags().version == 0 ? 6 : 8
    for info in try file.boxes(in: box.content, after: prefix) where info.type == "infe" {
      var reader = file.reader(of: info.content)
      let (version, flags) = try reader.versionAndFlags()
      guard version >= 2 else { continue }
      if flags & 1 == 1 { hiddenPlaces.append(info.content.lowerBound + 3) }
      let item = try reader.number(version == 2 ? 2 : 4)
      _ = try reader.number(2)
      guard types.updateValue(try reader.type(), forKey: item) == nil else {
        throw .damaged("the item \(item) is there twice")
      }
      try Self.check(types.count, "items")
    }
  }

  private mutating func readReferences(_ file: HEIFBoxes, _ box: HEIFBoxes.Box) throws(ImageError) {
    var start = file.reader(of: box.content)
    let length = try start.versionAndFlags().version == 0 ? 2 : 4
    var targets = 0
    for reference in try file.boxes(in: box.content, after: 4) {
      var reader = file.reader(of: reference.content)
      let from = try reader.number(length)
      var items: [Int] = []
      for _ in 0..<(try reader.number(2)) { items.append(try reader.number(length)) }
      references.append(
        Reference(type: reference.type, place: reference.start + 4, from: from, to: items))
      if reference.type == "dimg" { partsOfItems[from, default: []] += items }
      targets += items.count
      try Self.check(references.count, "references")
      try Self.check(targets, "references", limit: Self.targetLimit)
    }
  }

  private mutating func readProperties(_ file: HEIFBoxes, _ box: HEIFBoxes.Box) throws(ImageError) {
    let boxes = try file.boxes(in: box.content)
    let containers = boxes.filter { $0.type == "ipco" }
    guard containers.count <= 1 else { throw .damaged("it has two boxes 'ipco'") }
    if let container = containers.first { propertyBoxes = try file.boxes(in: container.content) }
    for uses in boxes where uses.type == "ipma" {
      var reader = file.reader(of: uses.content)
      let (version, flags) = try reader.versionAndFlags()
      let count = try reader.number(4)
      try Self.check(count, "uses of properties")
      for _ in 0..<count {
        let item = try reader.number(version < 1 ? 2 : 4)
        for _ in 0..<(try reader.number(1)) {
          let index = flags & 1 == 1 ? try reader.number(2) & 0x7FFF : try reader.number(1) & 0x7F
          propertyIndexes[item, default: []].append(index)
        }
      }
    }
  }

  private mutating func readPlaces(
    _ file: HEIFBoxes, _ box: HEIFBoxes.Box, data: HEIFBoxes.Box?, count: Int
  ) throws(ImageError) {
    var reader = file.reader(of: box.content)
    let version = try reader.versionAndFlags().version
    let (sizes, otherSizes) = (try reader.number(1), try reader.number(1))
    let lengths = [sizes >> 4, sizes & 15, otherSizes >> 4, otherSizes & 15]
    guard lengths.allSatisfy({ $0 <= 8 }) else { throw .damaged("a length in 'iloc' is more than 8") }
    let hasMethod = version == 1 || version == 2
    var total = 0
    let itemCount = try reader.number(version < 2 ? 2 : 4)
    try Self.check(itemCount, "places of items")
    for _ in 0..<itemCount {
      let item = try reader.number(version < 2 ? 2 : 4)
      let method = hasMethod ? try reader.number(2) & 15 : 0
      _ = try reader.number(2)
      let base = try reader.number(lengths[2])
      let extentCount = try reader.number(2)
      try Self.check(extentCount, "places of an item", limit: Self.extentLimit)
      for _ in 0..<extentCount {
        if hasMethod { _ = try reader.number(lengths[3]) }
        let (offset, length) = (try reader.number(lengths[0]), try reader.number(lengths[1]))
        total = total.addingReportingOverflow(min(length, count)).partialValue
        let start = method == 1 ? data?.content.lowerBound ?? count : 0
        // The bytes that are there: libheif finds those that are missing.
        let first = min(start &+ min(base, count) &+ min(offset, count), count)
        extents[item, default: []].append(first..<min(count, first + min(length, count)))
      }
    }
    // libheif copies the bytes of each item when it reads the file.
    guard total <= Self.copyLimit * count else {
      throw .damaged("its items use each of its bytes more than \(Self.copyLimit) times")
    }
  }

  /// The maximum number of times that the bytes of the file are copied.
  private static let copyLimit = 4
  /// The maximum number of pieces of an item, as in libheif.
  private static let extentLimit = 32

  private static func check(_ count: Int, _ things: String, limit: Int = limit) throws(ImageError) {
    guard count <= limit else { throw .unsupported("HEIF: \(count) \(things), more than \(limit),") }
  }
}
