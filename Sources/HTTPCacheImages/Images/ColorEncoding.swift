import HTTPCaching

/// Primaries and curve of a color space of RGB, of which an ICC profile can be made.
struct ColorEncoding: Equatable {
  /// A place in the diagram of chromaticity (CIE 1931).
  struct Chromaticity: Equatable {
    let x: Double
    let y: Double
  }

  /// From a number of a pixel to light, both from 0 to 1.
  enum Curve: Equatable {
    case power(Double)
    /// `(a v + b)^g`, and `c v` below `d` (ICC.1 §10.18, type 3).
    case parametric(g: Double, a: Double, b: Double, c: Double, d: Double)

    static let sRGB = parametric(g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045)
    static let bt709 = parametric(g: 1 / 0.45, a: 1 / 1.099, b: 0.099 / 1.099, c: 1 / 4.5, d: 0.081)
    static let smpte240 = parametric(g: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 1 / 4, d: 0.0912)
  }

  /// Red, green, blue and white.
  struct Primaries: Equatable {
    let red: Chromaticity
    let green: Chromaticity
    let blue: Chromaticity
    let white: Chromaticity

    init(
      _ red: (Double, Double), _ green: (Double, Double), _ blue: (Double, Double), white: (Double, Double)
    ) {
      self.red = Chromaticity(x: red.0, y: red.1)
      self.green = Chromaticity(x: green.0, y: green.1)
      self.blue = Chromaticity(x: blue.0, y: blue.1)
      self.white = Chromaticity(x: white.0, y: white.1)
    }

    static let d65 = (0.3127, 0.3290)
    static let sRGB = Primaries((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), white: d65)

    /// Whether all are equal to within the precision of files.
    func isAbout(_ other: Primaries) -> Bool {
      zip([red, green, blue, white], [other.red, other.green, other.blue, other.white])
        .allSatisfy { abs($0.x - $1.x) < 0.002 && abs($0.y - $1.y) < 0.002 }
    }
  }

  var primaries = Primaries.sRGB
  var curve = Curve.sRGB

  /// The encoding of code points (ITU-T H.273, tables 2 and 3); nil for reserved ones, which say nothing.
  ///
  /// - Throws: `ImageError.unsupported` for one that an ICC profile of primaries and a curve cannot state, such as PQ and
  ///   HLG.
  init?(primaries: Int, transfer: Int) throws(ImageError) {
    if let unstated = Self.unstatedTransfers[transfer] {
      throw .unsupported("an image with colors in \(unstated)")
    }
    if primaries == 10 { throw .unsupported("an image with colors in CIE XYZ") }
    guard let known = Self.primaries[primaries] else { return nil }
    self.primaries = known
    switch transfer {
    // 11 and 12 differ from 1 only outside of the numbers from 0 to 1.
    case 1, 6, 11, 12, 14, 15: curve = .bt709
    case 2, 13: curve = .sRGB
    case 4: curve = .power(2.2)
    case 5: curve = .power(2.8)
    case 7: curve = .smpte240
    case 8: curve = .power(1)
    default: return nil
    }
  }

  /// An encoding by the exponent of a file (PNG §11.3.2.2).
  ///
  /// - Parameters:
  ///   - gamma: from light to numbers, such as 0.45455; nil for the curve of sRGB.
  ///   - primaries: nil for those of sRGB.
  /// - Returns: nil for an exponent that makes no picture.
  init?(gamma: Double?, primaries: Primaries?) {
    if let gamma {
      guard gamma > 0.01, gamma < 100 else { return nil }
      // Writers mean sRGB by 1/2.2 (PNG §11.3.2.5).
      curve = abs(gamma - 0.45455) < 0.0005 ? .sRGB : .power(1 / gamma)
    }
    if let primaries { self.primaries = primaries }
  }

  /// Whether numbers may be taken for those of sRGB.
  var isSRGB: Bool { curve == .sRGB && primaries.isAbout(.sRGB) }

  /// The curves for light beyond white or of other forms: taken for those of sRGB, the picture would be wrong.
  private static let unstatedTransfers = [
    9: "a logarithmic curve", 10: "a logarithmic curve", 16: "PQ (SMPTE ST 2084)", 17: "SMPTE ST 428-1",
    18: "HLG (ARIB STD-B67)",
  ]

  private static let primaries: [Int: Primaries] = [
    1: .sRGB, 2: .sRGB,
    4: Primaries((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), white: (0.310, 0.316)),
    5: Primaries((0.64, 0.33), (0.29, 0.60), (0.15, 0.06), white: Primaries.d65),
    6: Primaries((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), white: Primaries.d65),
    7: Primaries((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), white: Primaries.d65),
    8: Primaries((0.681, 0.319), (0.243, 0.692), (0.145, 0.049), white: (0.310, 0.316)),
    9: Primaries((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), white: Primaries.d65),
    11: Primaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), white: (0.314, 0.351)),
    12: Primaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), white: Primaries.d65),
    22: Primaries((0.630, 0.340), (0.295, 0.605), (0.155, 0.077), white: Primaries.d65),
  ]
}

extension ImageColorSpace {
  /// The color space of code points of H.273; nil for reserved ones.
  ///
  /// - Throws: `ImageError.unsupported` for code points that no profile can state.
  init?(codePoints primaries: Int, _ transfer: Int) throws(ImageError) {
    guard let encoding = try ColorEncoding(primaries: primaries, transfer: transfer) else { return nil }
    self.init(encoding)
  }

  /// A profile of an encoding; sRGB has none.
  init?(_ encoding: ColorEncoding) {
    guard !encoding.isSRGB else {
      self = .sRGB
      return
    }
    guard let profile = ICCProfile(encoding)?.bytes else { return nil }
    self = .profile(profile)
  }
}
