/// A change of an image after it is decoded (ISO 23008-12 §6.5.9 to §6.5.12).
enum HEIFTransform {
  /// Turned or mirrored.
  case oriented(ImageOrientation)
  /// A part cut out: its width and height, and the place of its middle, seen from the middle of the image.
  case cropped(size: (width: Double, height: Double), middle: (x: Double, y: Double))
}

extension ImageSize {
  /// The size after a change of an image.
  ///
  /// - Throws: `ImageError.damaged` for a part beyond the image.
  func applying(_ transform: HEIFTransform) throws(ImageError) -> ImageSize {
    switch transform {
    case .oriented(let orientation): return orientation.isTransposed ? transposed : self
    case .cropped(let part, let middle):
      let (columns, rows) = try place(of: part, middle: middle)
      return ImageSize(width: columns.count, height: rows.count)
    }
  }

  /// The columns and rows of a part.
  fileprivate func place(
    of part: (width: Double, height: Double), middle: (x: Double, y: Double)
  ) throws(ImageError) -> (columns: Range<Int>, rows: Range<Int>) {
    let columns = Self.range(of: part.width, middle: middle.x, in: width)
    let rows = Self.range(of: part.height, middle: middle.y, in: height)
    guard let columns, let rows else { throw .damaged("a part of an image is outside of it") }
    return (columns, rows)
  }

  /// The columns or rows of a part (ISO 14496-12 §12.1.4.1), cut off at the image's ends; nil without any.
  private static func range(of length: Double, middle: Double, in count: Int) -> Range<Int>? {
    let first = (middle + Double(count - 1) / 2 - (length - 1) / 2).rounded(.down)
    let last = (length - 1 + first).rounded()
    let (start, end) = (max(first, 0), min(last, Double(count - 1)))
    return start <= end ? Int(start)..<Int(end) + 1 : nil
  }
}

extension DecodedImage {
  /// The image after a change of its file.
  ///
  /// - Throws: `ImageError.damaged` for a part beyond the image.
  func applying(_ transform: HEIFTransform) throws(ImageError) -> DecodedImage {
    switch transform {
    case .oriented(let orientation):
      let turned = try upright(from: orientation, original: size)
      return try DecodedImage(
        size: turned.size, pixels: turned.pixels, colorSpace: colorSpace, isOpaque: isOpaque)
    case .cropped(let part, let middle):
      let (columns, rows) = try size.place(of: part, middle: middle)
      return try cropped(
        x: columns.lowerBound, y: rows.lowerBound, to: ImageSize(width: columns.count, height: rows.count))
    }
  }
}
