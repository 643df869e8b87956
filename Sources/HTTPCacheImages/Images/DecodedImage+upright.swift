import HTTPCaching

extension DecodedImage {
  /// The image of a file turned upright.
  ///
  /// - Parameter original: the size of the whole image in the file, as stored there.
  func upright(from orientation: ImageOrientation, original: ImageSize) throws(ImageError) -> DecodedImage {
    let originalSize = orientation.isTransposed ? original.transposed : original
    guard orientation != .up else {
      return try DecodedImage(
        size: size, pixels: pixels, colorSpace: colorSpace, originalSize: originalSize, isOpaque: isOpaque)
    }
    let upright = orientation.isTransposed ? size.transposed : size
    let (width, height) = (self.width, self.height)
    let turned = withPixels { source in
      Self.makePixels(upright) { target in
        for index in 0..<upright.width * upright.height {
          let (y, x) = index.quotientAndRemainder(dividingBy: upright.width)
          let (fromX, fromY) =
            switch orientation {
            case .up: (x, y)
            case .upMirrored: (width - 1 - x, y)
            case .down: (width - 1 - x, height - 1 - y)
            case .downMirrored: (x, height - 1 - y)
            case .leftMirrored: (y, x)
            case .right: (y, height - 1 - x)
            case .rightMirrored: (width - 1 - y, height - 1 - x)
            case .left: (width - 1 - y, x)
            }
          target[index] = source[fromY * width + fromX]
        }
      }
    }
    return try DecodedImage(
      size: upright, pixels: turned, colorSpace: colorSpace, orientation: orientation,
      originalSize: originalSize, isOpaque: isOpaque)
  }
}
