import HTTPCaching

extension HEIFItems {
  /// The properties of an item, in the order of their use (ISO 23008-12 §9.3).
  func properties(of item: Int) -> [HEIFBoxes.Box] {
    (propertyIndexes[item] ?? []).compactMap {
      propertyBoxes.indices.contains($0 - 1) ? propertyBoxes[$0 - 1] : nil
    }
  }

  /// The items that an item is made of, first to last.
  func parts(of item: Int) -> [Int] { partsOfItems[item] ?? [] }

  /// The first bytes of an item.
  func start(of item: Int, count: Int, in bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var start: [UInt8] = []
    for extent in extents[item] ?? [] where start.count < count {
      start += bytes[extent].prefix(count - start.count)
    }
    return start
  }

  /// The alpha images of an item (ISO 23008-12 §6.5.8; MIAF §7.3.5.2).
  func alphaImages(of item: Int) -> [Int] { alphaItems[item] ?? [] }

  /// Whether the colors of the primary image were multiplied with its alpha (ISO 23008-12 §6.4.5).
  var isPremultiplied: Bool { references.contains { $0.type == "prem" && $0.from == primary } }

  /// Whether an item is a coded image without colors, by its decoder's configuration.
  func isMonochrome(_ item: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
    properties(of: item).contains { property in
      let start = property.content.lowerBound
      switch property.type {
      case "av1C": return property.content.count > 2 && bytes[start + 2] & 0x10 != 0
      case "hvcC": return property.content.count > 16 && bytes[start + 16] & 3 == 0
      default: return false
      }
    }
  }

  /// Refuses colors that libheif 1.15 would take for others. It knows the matrices that two factors give (ITU-T H.273,
  /// table 4), RGB in the full range, and YCgCo in the full range with 8 bits.
  ///
  /// - Throws: `ImageError.unsupported`.
  func checkColors(of item: Int, bits: Int, in bytes: UnsafeRawBufferPointer) throws(ImageError) {
    for part in [item] + parts(of: item) {
      for property in properties(of: part) where property.type == "colr" {
        var reader = HEIFBoxes(bytes, property.content)
        guard try reader.type() == "nclx" else { continue }
        _ = try reader.number(4)
        let matrix = try reader.number(2)
        let isFullRange = try reader.number(1) & 0x80 != 0
        let isKnown =
          switch matrix {
          case 1, 2, 4...7, 9, 12: true
          case 0: isFullRange
          case 8: isFullRange && bits == 8
          default: false
          }
        guard isKnown else {
          throw .unsupported(
            "HEIF: colors with the matrix \(matrix), \(bits) bits and the \(isFullRange ? "full" : "limited") range"
          )
        }
      }
    }
  }

  /// The changes of an item after it is decoded, in their order.
  ///
  /// - Throws: `ImageError.truncated`, or `ImageError.damaged` for a part without a size.
  func transforms(of item: Int, in bytes: UnsafeRawBufferPointer) throws(ImageError) -> [HEIFTransform] {
    var transforms: [HEIFTransform] = []
    for property in properties(of: item) {
      var reader = HEIFBoxes(bytes, property.content)
      switch property.type {
      case "irot":
        let turns: [ImageOrientation] = [.up, .left, .down, .right]
        transforms.append(.oriented(turns[try reader.number(1) & 3]))
      case "imir":
        transforms.append(.oriented(try reader.number(1) & 1 == 0 ? .downMirrored : .upMirrored))
      case "clap":
        var numbers: [Double] = []
        for _ in 0..<4 {
          let (above, below) = (try reader.signed(), try reader.signed())
          guard below > 0 else { throw .damaged("a part of an image has no size") }
          numbers.append(Double(above) / Double(below))
        }
        transforms.append(.cropped(size: (numbers[0], numbers[1]), middle: (numbers[2], numbers[3])))
      default: break
      }
    }
    return transforms
  }

  /// Whether an image is an operating point of AV1 other than the first (AV1 Image File Format §2.3.2.1), such as one of
  /// several sizes. libheif 1.15 decodes the first.
  func isOtherOperatingPoint(_ item: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
    properties(of: item).contains { $0.type == "a1op" && bytes[$0.content].first ?? 0 != 0 }
  }

  /// The file for libheif: without references to auxiliary images, whose sizes libheif does not compare, with the length of
  /// its boxes and with a brand of still images.
  func prepared(_ bytes: BodyBytes) -> BodyBytes {
    let auxiliary = references.filter { $0.type == "auxl" }
    guard isOpenEnded || !auxiliary.isEmpty || !hiddenPlaces.isEmpty || brandPlace != nil else {
      return bytes
    }
    var all = bytes.array
    // libheif gives no handle of a hidden item; the other flags have no meaning (ISO 23008-12 §6.4.2).
    for place in hiddenPlaces { all[place] &= 0xFE }
    if let brandPlace { all.replaceSubrange(brandPlace..<brandPlace + 4, with: "mif1".utf8) }
    for reference in auxiliary {
      all.replaceSubrange(reference.place..<reference.place + 4, with: "free".utf8)
    }
    if isOpenEnded, let length = UInt32(exactly: all.count - meta.start) {
      for index in 0..<4 {
        all[meta.start + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index))
      }
    }
    return BodyBytes(all)
  }
}
