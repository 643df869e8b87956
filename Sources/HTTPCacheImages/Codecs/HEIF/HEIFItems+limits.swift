import HTTPCaching

extension HEIFItems {
  /// The types of items that libheif decodes; it trusts that a derived image is made of these.
  private static let imageTypes: Set<String> = ["hvc1", "av01", "vvc1", "grid", "iden", "iovl"]
  private static let derivedTypes: Set<String> = ["grid", "iden", "iovl"]
  /// The maximum number of images within one another, such as a tile of a grid that an overlay shows.
  private static let depthLimit = 4
  /// The maximum of pixels that are decoded for an image, in multiples of the limit: its tiles may reach beyond it, and it
  /// has alpha.
  private static let workFactor = 4
  /// The minimum that an image counts for, in pixels: it takes a decoder of its own.
  private static let leastPixels = 64

  /// Compares what libheif decodes for the primary image with the limit: the image, whatever it is made of, and alpha.
  ///
  /// - Parameter pixelLimit: the maximum of each image; all of them together have four times as many.
  /// - Throws: `ImageError`.
  func check(pixelLimit: Int, in bytes: UnsafeRawBufferPointer) throws(ImageError) {
    var known: [Int: Int] = [:]
    let total = try pixels(of: primary, within: 0, &known, pixelLimit: pixelLimit, in: bytes)
    guard total / Self.workFactor <= pixelLimit else {
      throw .unsupported(
        "HEIF: an image made of \(total) pixels, more than \(Self.workFactor) times the limit of \(pixelLimit),"
      )
    }
  }

  private func pixels(
    of item: Int, within depth: Int, _ known: inout [Int: Int], pixelLimit: Int,
    in bytes: UnsafeRawBufferPointer
  ) throws(ImageError) -> Int {
    if let pixels = known[item] { return pixels }
    guard depth < Self.depthLimit else {
      throw .unsupported("HEIF: more than \(Self.depthLimit) images within one another")
    }
    guard let type = types[item] else { throw .damaged("its item \(item) is missing") }
    guard Self.imageTypes.contains(type) else { throw .unsupported("HEIF: an image of type '\(type)'") }
    var total = try ownPixels(of: item, type, pixelLimit: pixelLimit, in: bytes)
    let parts = Self.derivedTypes.contains(type) ? parts(of: item) : []
    // libheif 1.15 would leave out the alpha.
    guard type != "iovl" || parts.allSatisfy({ alphaImages(of: $0).isEmpty }) else {
      throw .unsupported("HEIF: an overlay of images with alpha")
    }
    for part in parts + alphaImages(of: item) {
      let more = try pixels(of: part, within: depth + 1, &known, pixelLimit: pixelLimit, in: bytes)
      total = total.addingReportingOverflow(more).overflow ? .max : total + more
    }
    known[item] = total
    return total
  }

  private func ownPixels(
    of item: Int, _ type: String, pixelLimit: Int, in bytes: UnsafeRawBufferPointer
  ) throws(ImageError) -> Int {
    var total = Self.leastPixels
    var (sizes, transformCount) = ([ImageSize](), 0)
    for property in properties(of: item) {
      if property.type == "ispe" { sizes.append(try size(in: property.content, bytes)) }
      if ["irot", "imir", "clap"].contains(property.type) { transformCount += 1 }
    }
    // One of each (MIAF §7.3.6.7). Each of them passes over all pixels.
    guard transformCount <= 3 else { throw .damaged("an image is turned \(transformCount) times") }
    if let canvas = try canvas(of: item, type, in: bytes) {
      guard sizes.isEmpty || sizes == [canvas] else {
        throw .damaged("its picture has another size than its header")
      }
      sizes.append(canvas)
    }
    // Coded images are filled up to blocks of 8.
    sizes += codedSizes(of: item, in: bytes).map {
      ImageSize(width: max(1, $0.width - 7), height: max(1, $0.height - 7))
    }
    for size in sizes {
      try size.check(pixelLimit: pixelLimit)
      total = max(total, size.width * size.height)
    }
    return total
  }

  /// The sizes in the bytes of a coded image and of its decoder's configuration.
  private func codedSizes(of item: Int, in bytes: UnsafeRawBufferPointer) -> [ImageSize] {
    let data = { start(of: item, count: .max, in: bytes)[...] }
    for property in properties(of: item) {
      let content = Array(bytes[property.content])[...]
      switch property.type {
      case "av1C": return CodedSize.ofAV1(content.dropFirst(4)) + CodedSize.ofAV1(data())
      case "hvcC":
        let lengthSize = content.count > 21 ? Int(content[21] & 3) + 1 : 4
        return CodedSize.ofConfiguration(hevc: content) + CodedSize.ofHEVC(data(), lengthSize: lengthSize)
      default: break
      }
    }
    return CodedSize.ofAV1(types[item] == "av01" ? data() : [])
  }

  private func size(in property: Range<Int>, _ bytes: UnsafeRawBufferPointer) throws(ImageError) -> ImageSize
  {
    var reader = HEIFBoxes(bytes, property)
    _ = try reader.versionAndFlags()
    return ImageSize(width: try reader.number(4), height: try reader.number(4))
  }

  /// The size in the data of a grid or an overlay (ISO 23008-12 §6.6.2.3, §6.6.2.2); nil for another image.
  private func canvas(
    of item: Int, _ type: String, in bytes: UnsafeRawBufferPointer
  ) throws(ImageError) -> ImageSize? {
    guard type == "grid" || type == "iovl" else { return nil }
    let data = start(of: item, count: 18, in: bytes)
    let length = data.count > 1 && data[1] & 1 == 1 ? 4 : 2
    // Version and flags; rows and columns of a grid, the color behind an overlay.
    let place = type == "grid" ? 4 : 10
    guard data.count >= place + 2 * length else { throw .truncated }
    let number = { (start: Int) in data[start..<start + length].reduce(0) { $0 << 8 | Int($1) } }
    return ImageSize(width: number(place), height: number(place + length))
  }
}
