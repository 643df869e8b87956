/// How a camera was held: the value of EXIF's tag 0x0112.
public enum ImageOrientation: Int, Sendable, CaseIterable {
  /// Upright.
  case up = 1
  /// Mirrored at the vertical axis.
  case upMirrored = 2
  /// Turned by 180°.
  case down = 3
  /// Mirrored at the horizontal axis.
  case downMirrored = 4
  /// Mirrored at the axis from top left to bottom right.
  case leftMirrored = 5
  /// To be turned by 90° clockwise.
  case right = 6
  /// Mirrored at the axis from top right to bottom left.
  case rightMirrored = 7
  /// To be turned by 90° counterclockwise.
  case left = 8

  /// Whether width and height are exchanged when the image is turned upright.
  var isTransposed: Bool { rawValue >= 5 }

  /// Reads the orientation of EXIF data, which begins with the header of TIFF. Data that is damaged, or that
  /// does not tell, is `up`.
  init(exif data: ArraySlice<UInt8>) {
    self = Self.value(in: Array(data)).flatMap(ImageOrientation.init(rawValue:)) ?? .up
  }

  private static func value(in bytes: [UInt8]) -> Int? {
    guard bytes.count >= 8 else { return nil }
    let isLittle = bytes[0] == 0x49 && bytes[1] == 0x49
    guard isLittle || (bytes[0] == 0x4D && bytes[1] == 0x4D) else { return nil }
    func number(_ position: Int, _ count: Int) -> Int? {
      guard position >= 0, position <= bytes.count - count else { return nil }
      let octets = bytes[position..<position + count]
      return (isLittle ? Array(octets.reversed()) : Array(octets)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else {
      return nil
    }
    for index in 0..<count {
      let entry = directory + 2 + index * 12
      guard let tag = number(entry, 2) else { return nil }
      if tag == 0x0112 { return number(entry + 8, 2) }
    }
    return nil
  }
}
