import HTTPCaching

/// Resamples rows, then columns, with premultiplied alpha. Keeps as many rows as one row of the result needs.
struct Resampler {
  /// The largest result in pixels.
  static let pixelLimit = 100_000_000

  private let rows: FilterWeights
  private let columns: FilterWeights
  private let width: Int
  private let targetWidth: Int
  /// Row `n` of the source, resampled to the width of the result, is at `n % rows.span`.
  private var window: [SIMD4<Float>]
  private var line: [SIMD4<Float>]
  private var nextRow = 0

  /// - Throws: `ImageError`.
  static func resize(_ image: DecodedImage, to size: ImageSize) throws(ImageError) -> DecodedImage {
    try size.check(pixelLimit: pixelLimit)
    if size == image.size {
      return try DecodedImage(
        size: size, pixels: image.pixels, colorSpace: image.colorSpace, orientation: image.orientation,
        isOpaque: image.isOpaque)
    }
    var resampler = Resampler(from: image, to: size)
    return try image.making(size, isOpaque: image.isOpaque) { target in
      image.withPixels { source in
        guard let base = source.baseAddress else { return }
        for row in 0..<size.height {
          resampler.writeRow(row, of: base, to: target + row * size.width)
        }
      }
    }
  }

  private init(from source: DecodedImage, to target: ImageSize) {
    // ImageMagick's choice.
    let isEnlarged = target.width * target.height > source.width * source.height
    let filter: FilterWeights.Filter = isEnlarged || !source.isOpaque ? .mitchell : .lanczos
    rows = FilterWeights(filter, from: source.height, to: target.height)
    columns = FilterWeights(filter, from: source.width, to: target.width)
    width = source.width
    targetWidth = target.width
    window = Array(repeating: .zero, count: rows.span * target.width)
    line = Array(repeating: .zero, count: source.width)
  }

  private mutating func writeRow(
    _ row: Int, of source: UnsafePointer<SIMD4<UInt8>>, to target: UnsafeMutablePointer<SIMD4<UInt8>>
  ) {
    let range = rows.range(of: row)
    // Rows before the range are needed by no later row of the result.
    nextRow = max(nextRow, range.lowerBound)
    while nextRow < range.upperBound {
      readRow(source + nextRow * width, into: nextRow % rows.span * targetWidth)
      nextRow += 1
    }
    window.withUnsafeBufferPointer { window in
      rows.withWeights(of: row) { weights in
        for x in 0..<targetWidth {
          var sum = SIMD4<Float>.zero
          for index in 0..<weights.count {
            sum += window[(range.lowerBound + index) % rows.span * targetWidth + x] * weights[index]
          }
          target[x] = Self.pixel(sum)
        }
      }
    }
  }

  /// Resamples a row of the source to the width of the result.
  private mutating func readRow(_ source: UnsafePointer<SIMD4<UInt8>>, into start: Int) {
    line.withUnsafeMutableBufferPointer { line in
      for x in 0..<width {
        let pixel = source[x]
        var value = SIMD4<Float>(pixel)
        if pixel.w != 255 {
          value *= Float(pixel.w) / 255
          value.w = Float(pixel.w)
        }
        line[x] = value
      }
      window.withUnsafeMutableBufferPointer { window in
        for x in 0..<targetWidth {
          let first = columns.range(of: x).lowerBound
          window[start + x] = columns.withWeights(of: x) {
            Self.sum($0, UnsafeBufferPointer(rebasing: line[first...]))
          }
        }
      }
    }
  }

  @inline(__always)
  private static func sum(
    _ weights: UnsafeBufferPointer<Float>, _ samples: UnsafeBufferPointer<SIMD4<Float>>
  ) -> SIMD4<Float> {
    var sum = SIMD4<Float>.zero
    // Not addProduct: without a machine instruction for it, that is a call per number.
    for index in 0..<weights.count { sum += samples[index] * weights[index] }
    return sum
  }

  /// A pixel without premultiplied alpha.
  private static func pixel(_ sum: SIMD4<Float>) -> SIMD4<UInt8> {
    var value = sum
    if sum.w < 254.5 {
      guard sum.w >= 0.5 else { return .zero }
      value *= 255 / sum.w
      value.w = sum.w
    }
    let limited = value.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255)).rounded(
      .toNearestOrAwayFromZero)
    return SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(limited))
  }
}
