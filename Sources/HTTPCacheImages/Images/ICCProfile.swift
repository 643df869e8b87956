import HTTPCaching

/// An ICC profile of three primaries and one curve (ICC.1:2022, version 4).
struct ICCProfile {
  let bytes: BodyBytes

  private typealias Matrix = [[Double]]

  /// The white of all profiles (ICC.1 §7.2.16).
  private static let d50 = [0.9642, 1.0, 0.8249]
  /// From XYZ to the responses of the eye (Bradford; ICC.1, annex E).
  private static let bradford: Matrix = [
    [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
  ]

  /// Makes a profile; nil for primaries that make no color space, such as three on a line.
  init?(_ encoding: ColorEncoding) {
    let primaries = encoding.primaries
    guard let red = Self.xyz(primaries.red), let green = Self.xyz(primaries.green),
      let blue = Self.xyz(primaries.blue), let white = Self.xyz(primaries.white),
      case let columns = Self.transposed([red, green, blue]),
      let scales = Self.inverse(columns).map({ Self.product($0, white) }),
      let adaptation = Self.adaptation(from: white)
    else { return nil }
    let adapted = (0..<3).map { index in
      Self.product(adaptation, [red, green, blue][index].map { $0 * scales[index] })
    }
    let numbers = (adapted + adaptation).flatMap { $0 }
    guard numbers.allSatisfy({ $0.isFinite && abs($0) < 30_000 }) else { return nil }
    let curve = Self.curve(encoding.curve)
    bytes = BodyBytes(
      Self.file([
        ("desc", Self.text("Colors of the file")), ("cprt", Self.text("No copyright, use freely")),
        ("wtpt", Self.numbers("XYZ ", Self.d50)), ("chad", Self.numbers("sf32", adaptation.flatMap { $0 })),
        ("rXYZ", Self.numbers("XYZ ", adapted[0])), ("gXYZ", Self.numbers("XYZ ", adapted[1])),
        ("bXYZ", Self.numbers("XYZ ", adapted[2])), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
      ]))
  }

  // MARK: Colors

  private static func xyz(_ color: ColorEncoding.Chromaticity) -> [Double]? {
    color.y > 0.0001 ? [color.x / color.y, 1, (1 - color.x - color.y) / color.y] : nil
  }

  private static func adaptation(from white: [Double]) -> Matrix? {
    let (source, target) = (product(bradford, white), product(bradford, d50))
    guard let inverse = inverse(bradford), source.allSatisfy({ abs($0) > 0.0001 }) else { return nil }
    let scaled = (0..<3).map { row in bradford[row].map { $0 * target[row] / source[row] } }
    return transposed(transposed(scaled).map { product(inverse, $0) })
  }

  private static func product(_ matrix: Matrix, _ vector: [Double]) -> [Double] {
    matrix.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
  }

  private static func transposed(_ matrix: Matrix) -> Matrix {
    (0..<3).map { column in matrix.map { $0[column] } }
  }

  private static func inverse(_ m: Matrix) -> Matrix? {
    func minor(_ row: Int, _ column: Int) -> Double {
      let (a, b) = ((row + 1) % 3, (row + 2) % 3)
      let (c, d) = ((column + 1) % 3, (column + 2) % 3)
      return m[a][c] * m[b][d] - m[a][d] * m[b][c]
    }
    let determinant = (0..<3).reduce(0) { $0 + m[0][$1] * minor(0, $1) }
    guard abs(determinant) > 1e-9 else { return nil }
    return (0..<3).map { row in (0..<3).map { minor($0, row) / determinant } }
  }

  // MARK: Bytes

  private static func file(_ tags: [(name: String, data: [UInt8])]) -> [UInt8] {
    var table = number(tags.count)
    var data: [UInt8] = []
    let start = 128 + 4 + 12 * tags.count
    var last: (data: [UInt8], place: Int)?
    for tag in tags {
      // Equal tags that follow each other share their data (ICC.1 §7.3.1).
      let place = last.flatMap { $0.data == tag.data ? $0.place : nil } ?? start + data.count
      if place == start + data.count { data += tag.data + [UInt8](repeating: 0, count: -tag.data.count & 3) }
      last = (tag.data, place)
      table += Array(tag.name.utf8) + number(place) + number(tag.data.count)
    }
    var header = number(start + data.count) + number(0) + number(0x0430_0000)
    header += Array("mntrRGB XYZ ".utf8)
    header += [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8)
    header += [UInt8](repeating: 0, count: 28) + d50.flatMap(fixed)
    return header + [UInt8](repeating: 0, count: 128 - header.count) + table + data
  }

  private static func curve(_ curve: ColorEncoding.Curve) -> [UInt8] {
    switch curve {
    case .power(let g): Array("para".utf8) + number(0) + [0, 0, 0, 0] + fixed(g)
    case .parametric(let g, let a, let b, let c, let d):
      Array("para".utf8) + number(0) + [0, 3, 0, 0] + [g, a, b, c, d].flatMap(fixed)
    }
  }

  private static func text(_ text: String) -> [UInt8] {
    let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    return Array("mluc".utf8) + number(0) + number(1) + number(12) + Array("enUS".utf8) + number(units.count)
      + number(28) + units
  }

  private static func numbers(_ type: String, _ values: [Double]) -> [UInt8] {
    Array(type.utf8) + number(0) + values.flatMap(fixed)
  }

  /// A number with 16 bits before and 16 behind the point.
  private static func fixed(_ value: Double) -> [UInt8] {
    number(Int((min(max(value, -32_767), 32_767) * 65_536).rounded()))
  }

  private static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
