/// A form of files that is known and not read. The text of messages stands here for files and for members of ZIP files.
enum UnreadForm: Equatable, CustomStringConvertible {
  case zstandard
  case xz
  case bzip2
  /// A member of a ZIP file in a compression of ZIP, by its method (APPNOTE 6.3.10 §4.4.5).
  case zipMethod(Int)
  /// A member of a ZIP file that needs a password.
  case encrypted

  /// The form of a file; nil if its first bytes are of no form listed here.
  ///
  /// - Parameter start: the first six bytes, or more.
  init?(start: [UInt8]) {
    if start.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
      || start.dropFirst().starts(with: [0x2A, 0x4D, 0x18]) && (0x50...0x5F).contains(start[0])
    {
      // A skippable frame has the dictionary of a `.warc.zst` file.
      self = .zstandard
    } else if start.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) {
      self = .xz
    } else if start.starts(with: "BZh".utf8), start.count > 3, (0x31...0x39).contains(start[3]) {
      self = .bzip2
    } else {
      return nil
    }
  }

  /// The form, and what to do: the rest of a sentence that begins with the name of the file.
  var description: String {
    switch self {
    case .zstandard:
      "compressed with Zstandard, which is not read: decompress it with zstd -d, or warcio recompress"
    case .xz: "compressed with xz, which is not read: decompress it with xz -d"
    case .bzip2: "compressed with bzip2, which is not read: decompress it with bzip2 -d"
    case .zipMethod(let method):
      "compressed in the ZIP file with \(Self.name(ofMethod: method)), which is not read: store it with zip -0"
    case .encrypted: "encrypted in the ZIP file, which is not read: pack it without a password"
    }
  }

  private static func name(ofMethod method: Int) -> String {
    switch method {
    case 1: "Shrink"
    case 2...5: "Reduce"
    case 6: "Implode"
    case 9: "Deflate64"
    case 12: "bzip2"
    case 14: "LZMA"
    case 20, 93: "Zstandard"
    case 95: "xz"
    case 98: "PPMd"
    default: "method \(method)"
    }
  }
}
