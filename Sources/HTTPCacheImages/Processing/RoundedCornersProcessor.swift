/// Makes the corners of an image round, with smooth edges.
public struct RoundedCornersProcessor: ImageProcessor {
  /// The radius in pixels; nil for half of the shorter side.
  public let radius: Int?

  /// Makes a processor.
  ///
  /// - Parameter radius: pixels; at most half of the shorter side is used. nil is half of the shorter side: a
  ///   circle of a square.
  public init(radius: Int?) { self.radius = radius.map { max(0, $0) } }

  /// Name and parameters.
  public var key: String { "rounded(\(radius.map(String.init) ?? "max"))" }

  /// Makes pixels outside of the corners transparent.
  ///
  /// - Throws: `ImageError`.
  public func process(_ image: DecodedImage) throws -> DecodedImage {
    let most = Double(min(image.width, image.height)) / 2
    let radius = radius.map { min(Double($0), most) } ?? most
    guard radius > 0 else { return image }
    return try image.making(image.size, isOpaque: false) { target in
      image.withPixels { source in
        guard let base = source.baseAddress else { return }
        target.update(from: base, count: source.count)
        let band = Int(radius.rounded(.up))
        for y in 0..<image.height where y < band || y >= image.height - band {
          for x in 0..<image.width where x < band || x >= image.width - band {
            let share = Self.share(
              x: Self.depth(of: x, in: image.width, radius: radius),
              y: Self.depth(of: y, in: image.height, radius: radius), radius: radius)
            let index = y * image.width + x
            target[index].w = UInt8((Double(source[index].w) * share).rounded())
          }
        }
      }
    }
  }

  /// How far the middle of a pixel is beyond the center of its corner's circle; 0 if it is not.
  private static func depth(of position: Int, in length: Int, radius: Double) -> Double {
    let middle = Double(position) + 0.5
    return max(0, radius - middle, middle - (Double(length) - radius))
  }

  /// The share of a pixel that lies within the circle.
  private static func share(x: Double, y: Double, radius: Double) -> Double {
    guard x > 0, y > 0 else { return 1 }
    return min(max(radius - (x * x + y * y).squareRoot() + 0.5, 0), 1)
  }
}

extension ImageProcessor where Self == RoundedCornersProcessor {
  /// See `RoundedCornersProcessor`.
  public static func roundedCorners(radius: Int?) -> RoundedCornersProcessor {
    RoundedCornersProcessor(radius: radius)
  }
}
