public import ArgumentParser
public import HTTPCacheImages

/// Width and height as an argument, such as `640x480`.
struct ImageGeometry: ExpectedArgument {
  static let expected = "width and height from 1 to 65535, such as 640x480"

  let size: ImageSize

  init?(argument: String) {
    let parts = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let width = parts[0], let height = parts[1], (1...65_535).contains(width),
      (1...65_535).contains(height)
    else { return nil }
    size = ImageSize(width: width, height: height)
  }
}

extension ResizeProcessor.Mode: @retroactive ExpressibleByArgument {}

/// The format of the images that are written.
enum ImageFormat: String, ExpressibleByArgument, CaseIterable {
  case jpg
  case png
  case webp

  /// The format that the extension of a file names; nil for another extension.
  init?(file: String) {
    guard let suffix = Self.suffix(of: file) else { return nil }
    self.init(rawValue: suffix == "jpeg" ? "jpg" : suffix)
  }

  /// The extension of a file's name in lower case; nil without one.
  static func suffix(of file: String) -> String? {
    let name = file.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    return name[name.index(after: dot)...].lowercased()
  }

  func encoder(quality: Int?) -> any ImageEncoder {
    switch self {
    case .jpg: JPEGEncoder(quality: quality ?? 85)
    case .png: PNGEncoder()
    case .webp: WebPEncoder(quality: quality ?? 80)
    }
  }
}
